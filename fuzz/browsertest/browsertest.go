// Package browsertest opens pages of txnfuzz in a real browser, for tests.
//
// Look opens a page in two widths, light and dark, and fails a test if axe finds something, if something sticks out of
// the page, or if the browser complains. Without a Chromium or a script of axe-core a test is skipped; where the
// environment variable TXNFUZZ_REQUIRE_BROWSER is set, it fails.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Program is the path of a Chromium.
func Program(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chromium-headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "no chromium on the PATH")
	return ""
}

// Open opens a Chromium.
func Open(t *testing.T) context.Context {
	t.Helper()
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(Program(t)), chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), o...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// missing skips a test, or fails it where the environment says that everything is there.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("TXNFUZZ_REQUIRE_BROWSER") != "" {
		t.Fatal("TXNFUZZ_REQUIRE_BROWSER is set, but " + what)
	}
	t.Skip(what)
}

// axe is the script of axe-core; see scripts/axe.
func axe(t *testing.T) string {
	t.Helper()
	path := os.Getenv("TXNFUZZ_AXE")
	if path == "" {
		missing(t, "TXNFUZZ_AXE names no script of axe-core; see scripts/axe")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Do does one thing in a browser.
func Do[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	out, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var widths = []struct {
	name          string
	width, height int64
}{{"390", 390, 844}, {"1280", 1280, 900}}

var schemes = []string{"light", "dark"}

// Page is one to look at; Name is that of its pictures.
type Page struct{ Name, URL string }

// Look opens each page in two widths, light and dark. TXNFUZZ_SCREENSHOTS names a folder for pictures of what it sees.
func Look(t *testing.T, ctx context.Context, pages ...Page) {
	t.Helper()
	script := axe(t)
	var complaints []string
	err := chromedp.Listen(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventConsoleAPICalled:
			complaints = append(complaints, fmt.Sprint(e.Type, " ", e.Args))
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			complaints = append(complaints, e.Entry.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range widths {
		for _, scheme := range schemes {
			for _, p := range pages {
				name := strings.Join([]string{p.Name, w.name, scheme}, "-")
				Do(t, ctx, chromedp.EmulateViewport(w.width, w.height))
				features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
				media := emulation.SetEmulatedMediaParams{Features: features}
				if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
					t.Fatal(err)
				}
				Do(t, ctx, chromedp.Navigate(p.URL))
				look(t, ctx, name, script)
			}
		}
	}
	for _, c := range complaints {
		t.Errorf("the browser complains: %s", c)
	}
}

// look looks at the page that is open.
func look(t *testing.T, ctx context.Context, name, script string) {
	t.Helper()
	wide := Do(t, ctx, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > innerWidth"))
	Do(t, ctx, chromedp.Evaluate[chromedp.Void](script))
	found := Do(t, ctx, chromedp.Evaluate[string](`axe.run().then(r => JSON.stringify(r.violations.map(v =>
		v.id + ": " + v.help + ": " + v.nodes.map(n => n.html).join(" "))))`, chromedp.EvalAwaitPromise))
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
		picture := Do(t, ctx, chromedp.FullScreenshot(100))
		if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
			t.Error(err)
		}
	}
}
