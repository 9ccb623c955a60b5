package web

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browser opens a Chromium. Without one there is nothing to test with, which is a failure where the environment says that
// there is one.
func browser(t *testing.T) context.Context {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
		ctx, cancel := chromedp.NewExecAllocator(t.Context(), o...)
		t.Cleanup(cancel)
		ctx, cancel = chromedp.NewContext(ctx)
		t.Cleanup(cancel)
		return ctx
	}
	if os.Getenv("TXNFUZZ_REQUIRE_BROWSER") != "" {
		t.Fatal("TXNFUZZ_REQUIRE_BROWSER is set, but no chromium is on the PATH")
	}
	t.Skip("no chromium on the PATH")
	return nil
}

// axe is the script of axe-core; see scripts/axe.
func axe(t *testing.T) string {
	t.Helper()
	path := os.Getenv("TXNFUZZ_AXE")
	if path == "" {
		if os.Getenv("TXNFUZZ_REQUIRE_BROWSER") != "" {
			t.Fatal("TXNFUZZ_REQUIRE_BROWSER is set, but TXNFUZZ_AXE names no script of axe-core; see scripts/axe")
		}
		t.Skip("TXNFUZZ_AXE names no script of axe-core; see scripts/axe")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var looks = []struct {
	name          string
	width, height int64
}{{"390", 390, 844}, {"1280", 1280, 900}}

var schemes = []string{"light", "dark"}

var shownPages = []struct{ name, path string }{
	{"overview", "/"}, {"time", "/time"}, {"work", "/work"}, {"findings", "/findings"},
	{"finding", "/finding?id=mariadb-wrong-rows-RR-0123"}, {"log", "/log"},
}

// TestLooks opens each page in two widths, light and dark: axe finds nothing, nothing sticks out of the page, and the browser
// does not complain. TXNFUZZ_SCREENSHOTS names a folder for pictures of what it sees.
func TestLooks(t *testing.T) {
	ctx, script := browser(t), axe(t)
	s := start(t, Options{Stop: func() {}, Again: func(context.Context, Finding) (string, error) { return "", nil }})
	s.Show(aBoard())
	aged(s)
	fmt.Fprintf(s, "seed 1\nfound mariadb-wrong-rows-RR-0123: expected (1) (2), got (1): corpus/found/x.sql\n")
	var complaints []string
	err := chromedp.Listen(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventConsoleAPICalled:
			complaints = append(complaints, fmt.Sprint(e.Type, " ", e.Args))
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, e.ExceptionDetails.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.URL()))
	for _, look := range looks {
		for _, scheme := range schemes {
			for _, p := range shownPages {
				name := strings.Join([]string{p.name, look.name, scheme}, "-")
				do(t, ctx, chromedp.EmulateViewport(look.width, look.height))
				features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
				if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
					t.Fatal(err)
				}
				do(t, ctx, chromedp.Navigate(s.at(p.path)))
				wide := do(t, ctx, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > innerWidth"))
				do(t, ctx, chromedp.Evaluate[chromedp.Void](script))
				found := do(t, ctx, chromedp.Evaluate[string](`axe.run().then(r => JSON.stringify(r.violations.map(v =>
					v.id + ": " + v.help + ": " + v.nodes.map(n => n.html).join(" "))))`, chromedp.EvalAwaitPromise))
				picture := do(t, ctx, chromedp.FullScreenshot(100))
				var violations []string
				if err := json.Unmarshal([]byte(found), &violations); err != nil {
					t.Fatalf("%s: %s: %v", name, found, err)
				}
				for _, v := range violations {
					t.Errorf("%s: %s", name, v)
				}
				if wide {
					t.Errorf("%s: something sticks out of the page", name)
				}
				if dir := os.Getenv("TXNFUZZ_SCREENSHOTS"); dir != "" {
					if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
	for _, c := range complaints {
		t.Errorf("the browser complains: %s", c)
	}
}

// do does one thing in a browser.
func do[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	out, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestByKeyboard goes to a finding and has it run again, and stops the command, by keys alone. What it stands on stays while
// the page is renewed under it.
func TestByKeyboard(t *testing.T) {
	ctx := browser(t)
	stopped, again := make(chan bool, 1), make(chan string, 1)
	s := start(t, Options{Stop: func() { stopped <- true },
		Again: func(_ context.Context, f Finding) (string, error) {
			again <- f.ID
			return "it shows in 10 of 10 runs", nil
		}})
	s.Show(aBoard())
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	const standsOn = "document.activeElement.innerText"
	// to presses Tab until it stands on a text, and then Enter, which must lead to a page with another one.
	to := func(text, then string) {
		t.Helper()
		for range 40 {
			do(t, ctx, chromedp.KeyEvent(kb.Tab))
			if do(t, ctx, chromedp.Evaluate[string](standsOn)) == text {
				if renewed := do(t, ctx, chromedp.Evaluate[string]("renew().then(() => "+standsOn+")", chromedp.EvalAwaitPromise)); renewed != text {
					t.Errorf("after the page was renewed, it stands on %q and not on %q", renewed, text)
				}
				do(t, ctx, chromedp.KeyEvent(kb.Enter))
				do(t, ctx, chromedp.WaitVisible(then))
				return
			}
		}
		t.Fatalf("no key leads to %q", text)
	}
	do(t, ctx, chromedp.Navigate(s.URL()))
	do(t, ctx, chromedp.KeyEvent(kb.Tab))
	if first := do(t, ctx, chromedp.Evaluate[string](standsOn)); first != "Skip to the page" {
		t.Errorf("the first key leads to %q", first)
	}
	to("Findings", `//h1[text()="Findings"]`)
	to("mariadb-wrong-rows-RR-0123", `//h1[text()="mariadb-wrong-rows-RR-0123"]`)
	to("Confirm again", `//p[text()="Run again: it shows in 10 of 10 runs"]`)
	to("Overview", `//h1[text()="Overview"]`)
	to("Stop", `//b[text()="It is ending"]`)
	if got := <-again; got != "mariadb-wrong-rows-RR-0123" {
		t.Errorf("%s was run again", got)
	}
	<-stopped
}
