package web

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/txnfuzz/txnfuzz/fuzz/browsertest"
)

var shownPages = []struct{ name, path string }{
	{"overview", "/"}, {"time", "/time"}, {"work", "/work"}, {"findings", "/findings"},
	{"finding", "/finding?id=mariadb-wrong-rows-RR-0123"}, {"log", "/log"},
}

// TestLooks looks at each page.
func TestLooks(t *testing.T) {
	ctx := browsertest.Open(t)
	s := start(t, Options{Stop: func() {}, Again: func(context.Context, Finding) (string, error) { return "", nil }})
	s.Show(aBoard())
	aged(s)
	fmt.Fprintf(s, "seed 1\nfound mariadb-wrong-rows-RR-0123: expected (1) (2), got (1): corpus/found/x.sql\n")
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL()))
	var pages []browsertest.Page
	for _, p := range shownPages {
		pages = append(pages, browsertest.Page{Name: p.name, URL: s.at(p.path)})
	}
	browsertest.Look(t, ctx, pages...)
}

// TestByKeyboard goes to a finding and has it run again, and stops the command, by keys alone. What it stands on stays while
// the page is renewed under it.
func TestByKeyboard(t *testing.T) {
	ctx := browsertest.Open(t)
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
			browsertest.Do(t, ctx, chromedp.KeyEvent(kb.Tab))
			if browsertest.Do(t, ctx, chromedp.Evaluate[string](standsOn)) == text {
				if renewed := browsertest.Do(t, ctx, chromedp.Evaluate[string]("renew().then(() => "+standsOn+")", chromedp.EvalAwaitPromise)); renewed != text {
					t.Errorf("after the page was renewed, it stands on %q and not on %q", renewed, text)
				}
				browsertest.Do(t, ctx, chromedp.KeyEvent(kb.Enter))
				browsertest.Do(t, ctx, chromedp.WaitVisible(then))
				return
			}
		}
		t.Fatalf("no key leads to %q", text)
	}
	browsertest.Do(t, ctx, chromedp.Navigate(s.URL()))
	browsertest.Do(t, ctx, chromedp.KeyEvent(kb.Tab))
	if first := browsertest.Do(t, ctx, chromedp.Evaluate[string](standsOn)); first != "Skip to the page" {
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
