/*
 * See report.h: the style sheet.  The colours of the columns were found by a search: any two of them differ by at least
 * 24 (on light) or 21 (on dark) in CIELAB, also for people without red, green or blue cones (Machado's model).  No
 * information depends on colour alone.
 */
#include "report.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <string.h>

/* --s0 to --s7 are the pipelines in the chart by day, --s8 is the others. */
static const char style[] =
":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#59616b;--line:#dfe3e8;--track:#eef1f4;--bar:#0b62a8;"
"--s0:#0b62a8;--s1:#d2a215;--s2:#3ac271;--s3:#8f0e55;--s4:#861ef7;--s5:#cd2326;--s6:#0b116d;--s7:#401809;"
"--s8:#a4abb3}\n"
"@media screen and (prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e8eaed;--soft:#a3abb5;--line:#2f353d;"
"--track:#22272e;--bar:#4da3e0;"
"--s0:#4da3e0;--s1:#f79a45;--s2:#20713a;--s3:#814191;--s4:#58f7e9;--s5:#c5a276;--s6:#5d45f7;--s7:#f7f69d;"
"--s8:#747c85}}\n"
"*{box-sizing:border-box}\n"
"html{-webkit-text-size-adjust:100%;text-size-adjust:100%}\n"
"body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,\"Segoe UI\",Roboto,\"Helvetica Neue\","
"\"Liberation Sans\",Arial,sans-serif;font-variant-numeric:tabular-nums}\n"
"main{max-width:60rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}\n"
"h1{font-size:1.65rem;line-height:1.25;font-weight:650;letter-spacing:-.01em;margin:0;overflow-wrap:anywhere}\n"
"h2{font-size:1.15rem;line-height:1.3;font-weight:650;margin:0 0 .25rem}\n"
"h3{font-size:.95rem;font-weight:600;margin:1.75rem 0 .5rem}\n"
"p{margin:.25rem 0;max-width:44rem}\n"
".soft,footer{color:var(--soft)}\n"
".lead{font-size:1.05rem;margin-top:.35rem}\n"
"section[id]{margin-top:3rem;padding-top:1.25rem;border-top:1px solid var(--line)}\n"
"figure{margin:1.25rem 0 0}\n"
"dl.sum{display:grid;grid-template-columns:repeat(3,1fr);gap:1.5rem 1.25rem;margin:2rem 0 0}\n"
"dl.sum div{display:flex;flex-direction:column;border-top:2px solid var(--bar);padding-top:.5rem}\n"
"dl.sum dt{color:var(--soft);font-size:.85rem;order:2}\n"
"dl.sum dd{margin:0}\n"
"dl.sum .n{font-size:1.4rem;line-height:1.3;font-weight:600;letter-spacing:-.01em;order:1}\n"
"dl.sum .m{color:var(--soft);font-size:.85rem;order:3}\n"
"svg{display:block;overflow:hidden}\n"
"svg text{fill:var(--soft);font-size:12px}\n"
"nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:2rem 0 0;padding:0}\n"
"a{color:var(--bar)}\n"
".bar{width:100%;height:6px;margin:.25rem 0 .1rem;border-radius:2px;background:var(--track)}\n"
".bar rect{fill:var(--bar)}.grid{stroke:var(--line)}.cap{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:4 3}\n"
".s0{fill:var(--s0)}.s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}.s4{fill:var(--s4)}.s5{fill:var(--s5)}"
".s6{fill:var(--s6)}.s7{fill:var(--s7)}.s8{fill:var(--s8)}\n"
".plot{display:flex}.plot rect[class]{stroke:var(--paper);stroke-width:.5}.plot svg:last-child{flex:1;min-width:0}\n"
"ul.key{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:.75rem 0 0;padding:0;font-size:.85rem}\n"
"ul.key li{display:flex;align-items:baseline;gap:.45rem;max-width:100%;overflow-wrap:anywhere}\n"
"ul.key svg{flex:none}\n"
".scroll{position:relative;overflow-x:auto;margin-top:1rem}\n"
"table{border-collapse:collapse;width:100%;font-size:.9rem}\n"
"caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}\n"
"th,td{padding:.35rem 0 .35rem 1.25rem;text-align:right;vertical-align:top;border-bottom:1px solid var(--line);"
"white-space:nowrap}\n"
"thead th{color:var(--soft);font-weight:500;vertical-align:bottom;white-space:normal;"
"overflow-wrap:anywhere;min-width:4.8rem}\n"
"th:first-child,td.t,thead th.t{text-align:left}th:first-child{padding-left:0}\n"
"tbody th{font-weight:400;white-space:normal;overflow-wrap:anywhere;min-width:9rem}\n"
"td.t{white-space:normal;overflow-wrap:anywhere;min-width:14rem}\n"
"tr.more th,tr.more td{color:var(--soft);font-style:italic}\n"
"small{display:block;color:var(--soft);font-size:.85em}\n"
"details{margin-top:1rem}summary{cursor:pointer;color:var(--soft)}\n"
":focus-visible{outline:2px solid var(--bar);outline-offset:2px}\n"
"ul.notes{margin:.75rem 0 0;padding-left:1.1rem;max-width:44rem}ul.notes li{margin:.35rem 0}\n"
"footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);font-size:.85rem;overflow-wrap:anywhere}\n"
"@media screen and (max-width:40rem){main{padding-top:1.5rem}dl.sum{grid-template-columns:1fr 1fr;gap:1.25rem 1rem}"
"table,tbody{display:block}thead{position:absolute;clip-path:inset(50%)}"
"tr{display:flex;flex-wrap:wrap;gap:0 1.1rem;padding:.5rem 0;border-bottom:1px solid var(--line)}"
"th,td{border:0;padding:0;text-align:left;white-space:normal;overflow-wrap:anywhere}"
"tbody th{flex:0 0 100%}td:empty{display:none}td.t{min-width:0;flex:0 0 100%}"
"td::before{content:attr(data-c) \" \";color:var(--soft)}}\n"
"@media print{body{font-size:10.5pt}main{max-width:none;padding:0}section{margin-top:1.5rem}"
"figure,tr,dl.sum{break-inside:avoid}h2,h3{break-after:avoid}.scroll{overflow:visible}"
"*{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
"details::details-content{content-visibility:visible;block-size:auto}}\n";

void
report_style(struct buf *b)
{
	char hash[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx s;

	sha256_init(&s);
	sha256_update(&s, sizeof(style) - 1, (const uint8_t *)style);
	sha256_digest(&s, sizeof(digest), digest);
	base64_encode_raw(hash, sizeof(digest), digest);
	buf_printf(b, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
	    "base-uri 'none'; form-action 'none'\">\n<style>%s</style>\n", hash, style);
}
