"""Draws a curve as a small SVG with two logarithmic axes, readable on light and dark backgrounds."""
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 480, 260, 56, 16, 14, 40
STYLE = '''<style>
text { font: 11px sans-serif; fill: #333 } .axis { stroke: #888; fill: none } .grid { stroke: #8884; fill: none }
.line { stroke: #1668b8; stroke-width: 2; fill: none } .dot { fill: #1668b8 } .range { stroke: #1668b888; stroke-width: 1.5 }
.refused { fill: #b3261e }
@media (prefers-color-scheme: dark) { text { fill: #ccc } .line { stroke: #6cb6ff } .dot { fill: #6cb6ff }
.range { stroke: #6cb6ff88 } .refused { fill: #ff8a80 } }
</style>'''


def decades(least, most):
    """The powers of ten around both values."""
    a, b = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return a, max(b, a + 1)


def short(v):
    return '%d M' % (v / 1e6) if v >= 1e6 else '%d k' % (v / 1e3) if v >= 1e3 else '%g' % v


def curve(points, label):
    """points: [N, median, least, most, ...] in ms, or [N, message]."""
    good = [p for p in points if len(p) > 2]
    lows = [max(p[2], p[1] / 10, 0.05) for p in good]
    x0, x1 = decades(1, max(p[0] for p in points))
    y0, y1 = decades(min(lows), max(p[3] for p in good))
    at_x = lambda n: LEFT + (math.log10(n) - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)
    at_y = lambda v: HEIGHT - BOTTOM - (math.log10(max(v, 10 ** y0)) - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM)
    size = (WIDTH, HEIGHT, WIDTH, HEIGHT)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">' % size,
           '<title>milliseconds by %s</title>' % label, STYLE]
    for e in range(y0, y1 + 1):
        out.append('<path class="grid" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s ms</text>' %
                   (LEFT, at_y(10 ** e), WIDTH - RIGHT, LEFT - 5, at_y(10 ** e) + 4, short(10 ** e)))
    for e in range(x0, x1 + 1):
        out.append('<path class="grid" d="M%.1f %dV%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>' %
                   (at_x(10 ** e), TOP, HEIGHT - BOTTOM, at_x(10 ** e), HEIGHT - BOTTOM + 15, short(10 ** e)))
    out.append('<path class="axis" d="M%d %dV%dH%d"/>' % (LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT))
    out.append('<text x="%d" y="%d" text-anchor="middle">%s</text>' % ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, label))
    for p, low in zip(good, lows):
        out.append('<path class="range" d="M%.1f %.1fV%.1f"/>' % (at_x(p[0]), at_y(low), at_y(p[3])))
    out.append('<polyline class="line" points="%s"/>' % ' '.join('%.1f,%.1f' % (at_x(p[0]), at_y(p[1])) for p in good))
    out += ['<circle class="dot" cx="%.1f" cy="%.1f" r="3"/>' % (at_x(p[0]), at_y(p[1])) for p in good]
    out += ['<text class="refused" x="%.1f" y="%d" text-anchor="end">refused</text>' % (at_x(p[0]), TOP + 12)
            for p in points if len(p) == 2]
    return '\n'.join(out + ['</svg>', ''])
