package html_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/results"
)

// A tab is one page in a headless Chromium. It records the network requests and console messages of
// the page, which should have none.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu    sync.Mutex
	deeds []string
}

// startBrowser starts Chromium for the tests of this file. They are skipped if there is
// none, unless LOCKBENCH_REQUIRE_BROWSER is 1.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" && os.Getenv("LOCKBENCH_REQUIRE_BROWSER") != "1" {
		t.Skip("no chromium in PATH")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", path, err)
	}
	return ctx
}

// open shows a page in a tab of its own, as wide as given.
func open(t *testing.T, browser context.Context, page string, width int64, scheme string) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, time.Minute) // for elements that never appear
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	b.do(chromedp.EmulateViewport(width, 900), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media)
		return err
	}), chromedp.Navigate("file://"+path))
	return b
}

// note records requests and all messages of the console.
func (b *tab) note(ev any) {
	deed := ""
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(ev.Request.URL, "file://") {
			deed = "request of " + ev.Request.URL
		}
	case *runtime.EventExceptionThrown:
		deed = "exception: " + fmt.Sprint(ev.ExceptionDetails.Text, " ", ev.ExceptionDetails.Exception.Description)
	case *runtime.EventConsoleAPICalled:
		deed = fmt.Sprintf("console.%s", ev.Type)
	case *log.EventEntryAdded:
		deed = "log: " + ev.Entry.Text
	}
	if deed != "" {
		b.mu.Lock()
		b.deeds = append(b.deeds, deed)
		b.mu.Unlock()
	}
}

// misdeeds returns the requests and console messages so far; a page should have none.
func (b *tab) misdeeds() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deeds
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns the value of a JavaScript expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// seen scrolls to an element and waits until something is drawn in it.
func (b *tab) seen(selector, drawn string) {
	b.t.Helper()
	eval[any](b, fmt.Sprintf("document.querySelector(%q).scrollIntoView({block: 'center', behavior: 'instant'}) ?? 0", selector))
	b.do(chromedp.WaitVisible(chromedp.CSS(selector + " " + drawn)))
}

func (b *tab) well() {
	b.t.Helper()
	if deeds := b.misdeeds(); len(deeds) > 0 {
		b.t.Errorf("the page did what it should not:\n%s", strings.Join(deeds, "\n"))
	}
}

// A look is a width of the page, in px, and the colour scheme that the reader prefers.
type look struct {
	width  int64
	scheme string
}

// looks opens a page in subtests named after it: one for each look of some, and for each of
// others in long tests.
func looks(t *testing.T, browser context.Context, name, page string, test func(*testing.T, *tab, int64), some, others []look) {
	if longtest.On() {
		some = slices.Concat(some, others)
	}
	for _, l := range some {
		t.Run(fmt.Sprintf("%s, %d wide, %s", name, l.width, l.scheme), func(t *testing.T) {
			test(t, open(t, browser, page, l.width, l.scheme), l.width)
		})
	}
}

// TestBrowser tests pages in a browser.
func TestBrowser(t *testing.T) {
	browser := startBrowser(t)
	run, explored := written(t, read(t, "run.json")), written(t, read(t, "explored.json"))
	looks(t, browser, "run", run, testPage, []look{{1200, "light"}, {390, "dark"}}, []look{{1200, "dark"}, {390, "light"}})
	matrix := written(t, readmeMatrix(t))
	looks(t, browser, "matrix", matrix, testMatrix, []look{{390, "dark"}}, []look{{1200, "light"}})
	comparison := written(t, worseComparison(t))
	looks(t, browser, "comparison", comparison, testComparison, []look{{1200, "dark"}}, []look{{390, "light"}})
	well := func(_ *testing.T, b *tab, width int64) { b.wellBehaved(width) }
	looks(t, browser, "hostile comparison", written(t, spoiledComparison(t)), well, []look{{1000, "light"}}, nil)
	looks(t, browser, "hostile matrix", written(t, spoiledMatrix(t)), well, []look{{1000, "light"}}, nil)
	t.Run("exploration", func(t *testing.T) { testExploration(t, open(t, browser, explored, 390, "light")) })
	t.Run("by hand", func(t *testing.T) {
		b := open(t, browser, run, 1000, "dark")
		for _, test := range []func(*testing.T, *tab){testPaper, testKeys, testZoom, testPointing, testTheme} {
			test(t, b)
		}
	})
	t.Run("hostile", func(t *testing.T) { testHostile(t, open(t, browser, written(t, spoiled(t)), 1000, "light")) })
	t.Run("misdeeds are seen", func(t *testing.T) {
		b := open(t, browser, `<img src="http://127.0.0.1:1/x"><script>console.error("no"); throw new Error("no")</script>`, 500, "light")
		if deeds := strings.Join(b.misdeeds(), "\n"); !strings.Contains(deeds, "request of http://127.0.0.1:1/x") || !strings.Contains(deeds, "exception") || !strings.Contains(deeds, "console.error") {
			t.Errorf("noticed only:\n%s", deeds)
		}
	})
}

const lanes = "figure[data-picture=run-1-exclusion] .stage"

func testPage(t *testing.T, b *tab, width int64) {
	for _, kind := range []string{"compare", "spectrum", "handoff", "overtime", "slowest", "fairness"} {
		b.seen("[data-chart="+kind+"] .plot", "canvas")
	}
	b.seen(lanes, "svg .overlap.both .row")
	b.wellBehaved(width)
}

func testComparison(t *testing.T, b *tab, width int64) {
	b.seen("figure[data-picture=changed-1] .stage", "svg .overlap.both .row")
	if got := eval[int](b, "document.querySelectorAll('.strip .new .dot').length"); got < 8 {
		t.Errorf("got %d runs of NEW drawn, want 8 of each figure", got)
	}
	b.wellBehaved(width)
}

// wellBehaved asserts the requirements on every page: it fits, is legible, runs no script
// from the data, and makes no requests.
func (b *tab) wellBehaved(width int64) {
	b.t.Helper()
	if got := eval[int64](b, "document.documentElement.scrollWidth"); got > width {
		b.t.Errorf("the page is %d wide, want %d: something sticks out", got, width)
	}
	if got := eval[[]string](b, contrasts); len(got) > 0 {
		b.t.Errorf("too little contrast: %s", strings.Join(got, "; "))
	}
	if got := eval[[]string](b, nameless); len(got) > 0 {
		b.t.Errorf("without a name or a scope: %s", strings.Join(got, "; "))
	}
	if eval[bool](b, "'pwned' in window") {
		b.t.Error("what came with the data was run")
	}
	b.well()
}

// nameless lists tables without a caption or a named region around them, heads without a
// scope, and pictures and buttons without a text.
const nameless = `(() => {
	const found = [];
	for (const t of document.querySelectorAll("main table:not(.u-legend)")) {
		const region = t.closest("[role=region]");
		if (!t.caption && !region?.ariaLabel && !region?.hasAttribute("aria-labelledby")) found.push("table: " + t.textContent.slice(0, 40));
		for (const h of t.querySelectorAll("th:not([scope])")) found.push("head: " + h.textContent);
	}
	for (const e of document.querySelectorAll("main [role=img], main .stage, main button")) if (!e.ariaLabel && !e.textContent.trim()) found.push(e.tagName);
	return found;
})()`

// testMatrix follows the link of a cell to its counterexample.
func testMatrix(t *testing.T, b *tab, width int64) {
	b.wellBehaved(width)
	b.do(chromedp.Focus(chromedp.CSS(".matrix a[href='#design-2-exclusion']")), chromedp.KeyEvent("\r"))
	b.do(chromedp.WaitVisible(chromedp.CSS("#design-2-exclusion .stage svg .overlap.both .row")))
	if got := eval[int](b, "document.querySelectorAll('details.cell[open]').length"); got != 1 {
		t.Errorf("following a cell opens %d of them, want 1", got)
	}
	top := eval[float64](b, "document.querySelector('#design-2-exclusion').getBoundingClientRect().top")
	if top < -5 || top > 900 {
		t.Errorf("the evidence is %.0f px from the top of the window, want it in view", top)
	}
	b.do(chromedp.Focus(chromedp.CSS("#design-2-exclusion .stage")), chromedp.KeyEvent("\u0303"))
	if got := eval[string](b, "document.querySelector('#design-2-exclusion .readout').textContent"); !strings.Contains(got, "step 1, ") {
		t.Errorf("the arrow keys say %q of the first event of the part that decided, explore", got)
	}
	b.wellBehaved(width)
}

// contrasts lists texts with less than the contrast of 4.5 : 1 that WCAG 2.2 requires
// (1.4.3), as tag.class: ratio.
const contrasts = `(() => {
	const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return { rgb: m.slice(0, 3), a: m[3] ?? 1 }; };
	const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a === 1) return c.rgb; } return [255, 255, 255]; };
	const found = new Set();
	for (const e of document.querySelectorAll("body *:not(script, style)")) {
		if (!e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
		const svg = e.namespaceURI.endsWith("svg"), style = getComputedStyle(e);
		const a = light(parse(svg ? style.fill : style.color).rgb), b = light(behind(svg ? e.closest(".stage") ?? e.closest("svg").parentElement : e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) found.add(e.tagName + "." + e.className + ": " + ratio.toFixed(2));
	}
	return [...found];
})()`

func testExploration(t *testing.T, b *tab) {
	b.seen("figure[data-picture=run-1-recovery-at-crash] .stage", "svg .mark")
	b.wellBehaved(390)
}

// testPointing points at the overlap, and reads its numbers.
func testPointing(t *testing.T, b *tab) {
	b.seen(lanes, "svg .overlap.both .row")
	at := eval[[]float64](b, `(() => { const r = document.querySelector("`+lanes+` .overlap.both .row").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]), chromedp.WaitVisible(chromedp.CSS(lanes+" .tip")))
	want := overlapOf(read(t, "run.json"))
	got := eval[string](b, `document.querySelector("`+lanes+` .tip").textContent`)
	for _, words := range want {
		if !strings.Contains(got, words) {
			t.Errorf("the overlap says %q, which has no %q", got, words)
		}
	}
	b.well()
}

// overlapOf returns the numbers of the overlap in the counterexample of exclusion.
func overlapOf(r *results.Result) []string {
	h := r.Runs[0].Cells.At(lockbench.Exclusion.At(0)).Counterexample.Holds
	from, to := max(h[0].Granted, h[1].Granted), min(h[0].End, h[1].End)
	seconds := func(ns int64) string { return fmt.Sprintf("%.6f s", float64(ns)/1e9) }
	return []string{"both hold the lock", fmt.Sprint("client ", h[0].Client), fmt.Sprint("client ", h[1].Client), seconds(from), seconds(to), time.Duration(to - from).Round(time.Microsecond).String()}
}

// testKeys walks through a picture and along a chart without a mouse.
func testKeys(t *testing.T, b *tab) {
	b.seen(lanes, "svg .mark")
	b.do(chromedp.Focus(chromedp.CSS(lanes)))
	var said []string
	n := eval[int](b, `document.querySelectorAll("`+lanes+` .item").length`)
	for range n {
		b.do(chromedp.KeyEvent("\u0303")) // arrow right
		said = append(said, eval[string](b, `document.querySelector("figure[data-picture=run-1-exclusion] > .readout").textContent`))
	}
	all := strings.Join(said, "\n")
	for _, want := range overlapOf(read(t, "run.json")) {
		if !strings.Contains(all, want) {
			t.Errorf("walking through the picture says no %q:\n%s", want, all)
		}
	}
	b.seen("[data-chart=overtime] .plot", "canvas")
	b.do(chromedp.Focus(chromedp.CSS("[data-chart=overtime] .plot")), chromedp.KeyEvent("\u0303"), chromedp.KeyEvent("\u0303"))
	if got := eval[string](b, `document.querySelector("[data-chart=overtime] .readout").textContent`); !strings.Contains(got, " s to ") {
		t.Errorf("the arrow keys move the chart's cursor to %q", got)
	}
	b.well()
}

func testZoom(t *testing.T, b *tab) {
	b.seen(lanes, "svg .overlap.both .row")
	width := func() float64 {
		return eval[float64](b, `document.querySelector("`+lanes+` .overlap.both .row").getBoundingClientRect().width`)
	}
	figure := `document.querySelector("figure[data-picture=run-1-exclusion]")`
	press := func(label string) {
		eval[any](b, figure+`.querySelector("button[aria-label='`+label+`']").click() ?? 0`)
	}
	before := width()
	press("Zoom to the overlap")
	if got := width(); got <= before {
		t.Errorf("zoomed to the overlap, it is %.0f px wide, before %.0f", got, before)
	}
	press("Show the whole story")
	if got := width(); got != before {
		t.Errorf("the whole story shows the overlap %.0f px wide, before %.0f", got, before)
	}
	press("Draw time to scale")
	if !eval[bool](b, figure+`.querySelector("[aria-label='Draw time to scale']").ariaPressed === "true"`) {
		t.Error("the button does not say that time is to scale")
	}
	b.do(chromedp.Focus(chromedp.CSS(lanes)), chromedp.KeyEvent("+"), chromedp.KeyEvent("+"), chromedp.KeyEvent("-"), chromedp.KeyEvent("0"))
	b.well()
}

func testTheme(t *testing.T, b *tab) {
	ground := func() string { return eval[string](b, "getComputedStyle(document.body).backgroundColor") }
	dark := ground()
	b.do(chromedp.Click(chromedp.CSS("[data-theme-choice=light]")))
	if light := ground(); light == dark {
		t.Errorf("light is %s, as dark is", light)
	}
	b.do(chromedp.Reload())
	if got := eval[string](b, "document.documentElement.dataset.theme"); got != "light" {
		t.Errorf("loaded again the theme is %s, want the one chosen", got)
	}
	b.do(chromedp.Click(chromedp.CSS("[data-theme-choice=auto]")))
	b.well()
}

// testPaper prints a page that was never scrolled, and checks that everything is drawn, on white.
func testPaper(t *testing.T, b *tab) {
	eval[any](b, "void (dispatchEvent(new Event('beforeprint'))) ?? 0")
	if missing := eval[int](b, "[...document.querySelectorAll('.plot')].filter((p) => !p.querySelector('canvas, .note')).length + [...document.querySelectorAll('.stage')].filter((s) => !s.querySelector('svg')).length"); missing > 0 {
		t.Errorf("%d charts and pictures are not drawn for paper", missing)
	}
	if closed := eval[int](b, "document.querySelectorAll('details:not([open])').length"); closed > 0 {
		t.Errorf("%d details are closed on paper", closed)
	}
	if got := eval[string](b, "document.documentElement.dataset.theme"); got != "light" {
		t.Errorf("paper is %s", got)
	}
	eval[any](b, "void (dispatchEvent(new Event('afterprint'))) ?? 0")
	if got := eval[string](b, "document.documentElement.dataset.theme"); got != "auto" {
		t.Errorf("after printing the theme is %s, want what it was", got)
	}
	if longtest.On() {
		if pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF()); err != nil || len(pdf) < 10_000 {
			t.Errorf("printed %d bytes: %v", len(pdf), err)
		}
	}
	b.well()
}

func testHostile(t *testing.T, b *tab) {
	b.seen(lanes, "svg .mark")
	b.seen("[data-chart=overtime] .plot", "canvas")
	if got := eval[string](b, "document.querySelector('.run h2').textContent"); !strings.Contains(got, "</script><script>") {
		t.Errorf("the design is called %q, want what the result says", got)
	}
	b.wellBehaved(1000)
}
