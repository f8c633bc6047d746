/*
 * See report_parts.h: the style sheet.  The colours of the columns were found by a search: any two of them differ by at
 * least 24 (on light) or 21 (on dark) in CIELAB, also for people without red, green or blue cones (Machado's model).
 * No information depends on colour alone.
 */
#include "report_parts.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>

/* s0 to s7 are the pipelines in the chart by day, s8 is the others. */
static const char style[] =
":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#59616b;--line:#dfe3e8;--track:#eef1f4;"
"--bar:#0b62a8}\n"
".s0{--c:#0b62a8}.s1{--c:#d2a215}.s2{--c:#3ac271}.s3{--c:#8f0e55}.s4{--c:#861ef7}.s5{--c:#cd2326}.s6{--c:#0b116d}"
".s7{--c:#401809}.s8{--c:#a4abb3}\n"
"@media screen and (prefers-color-scheme:dark){"
":root{--paper:#14171b;--ink:#e8eaed;--soft:#a3abb5;--line:#2f353d;--track:#22272e;--bar:#4da3e0}\n"
".s0{--c:#4da3e0}.s1{--c:#f79a45}.s2{--c:#20713a}.s3{--c:#814191}.s4{--c:#58f7e9}.s5{--c:#c5a276}.s6{--c:#5d45f7}"
".s7{--c:#f7f69d}.s8{--c:#747c85}}\n"
"*{box-sizing:border-box;-webkit-text-size-adjust:100%;text-size-adjust:100%}\n"
"body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,\"Liberation Sans\",Arial,sans-serif;"
"font-variant-numeric:tabular-nums}\n"
"main{max-width:60rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}\n"
"h1,h2{font-size:1.65rem;line-height:1.25;margin:0 0 .25rem;overflow-wrap:anywhere}\n"
"h2{font-size:1.15rem}\n"
"h3{font-size:.95rem;margin:1.75rem 0 .5rem}\n"
"p,.notes{margin:.25rem 0;max-width:44rem}\n"
"a{color:var(--bar)}\n"
".soft,footer,summary,dt,.m,small,thead th,.more>*{color:var(--soft)}\n"
"section[id],footer{margin-top:3rem;padding-top:1.25rem;border-top:1px solid var(--line)}\n"
"dl{display:grid;grid-template-columns:repeat(3,1fr);gap:1.5rem 1.25rem;margin:2rem 0 0}\n"
"dl div{border-top:2px solid var(--bar);padding-top:.5rem}\n"
"dt,.m,.key,small,footer{font-size:.85rem}\n"
"dd{margin:0}\n"
"dd.n{font-size:1.4rem;line-height:1.3;font-weight:600}\n"
"nav ul,.key{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:2rem 0 0;padding:0}\n"
"figure{margin:1.25rem 0 0}\n"
"svg{display:block;fill:var(--soft);font-size:12px}\n"
".bar{width:100%;height:6px;margin:.25rem 0 .1rem;background:var(--track)}.bar rect{fill:var(--bar)}\n"
".chart{width:calc(100% - 3.5rem);margin-left:3.5rem;overflow:visible}.scale{text-anchor:end}\n"
".grid{stroke:var(--line)}.chart rect[class]{fill:var(--c);stroke:var(--paper);stroke-width:.5}\n"
"line.cap{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:4 3}\n"
".key{margin-top:.75rem;overflow-wrap:anywhere}\n"
".key li::before{content:\"\";display:inline-block;width:.7em;height:.7em;margin-right:.45em;background:var(--c)}\n"
".key .cap::before{width:1.2em;height:.3em;background:none;border-top:2px dashed var(--ink)}\n"
".scroll{position:relative;overflow-x:auto;margin-top:1rem}\n"
"table{border-collapse:collapse;width:100%;font-size:.9rem}\n"
"caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}\n"
"th,td{padding:.35rem 0 .35rem 1.25rem;text-align:right;vertical-align:top;border-bottom:1px solid var(--line);"
"font-weight:400;white-space:nowrap}\n"
"thead th{vertical-align:bottom;white-space:normal;overflow-wrap:anywhere;min-width:4.8rem}\n"
"tbody th,td.t{white-space:normal;overflow-wrap:anywhere;min-width:9rem}\n"
"th:first-child,.t{text-align:left}th:first-child{padding-left:0}\n"
"small{display:block}.more{font-style:italic}\n"
"details{margin-top:1rem}summary{cursor:pointer}\n"
"@media screen and (max-width:40rem){main{padding-top:1.5rem}dl{grid-template-columns:1fr 1fr}"
"table,tbody{display:block}thead{position:absolute;clip-path:inset(50%)}"
"tr{display:flex;flex-wrap:wrap;gap:0 1.1rem;padding:.5rem 0;border-bottom:1px solid var(--line)}"
"th,td{border:0;padding:0;text-align:left;white-space:normal;overflow-wrap:anywhere}"
"tbody th,td.t{flex:0 0 100%;min-width:0}td:has(:empty){display:none}"
"td::before{content:attr(data-c) \" \";color:var(--soft)}}\n"
"@media print{body{font-size:10.5pt}main{max-width:none;padding:0}section[id]{margin-top:1.5rem}"
"figure,tr,dl{break-inside:avoid}h2,h3{break-after:avoid}.scroll{overflow:visible}"
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
