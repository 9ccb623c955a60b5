package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// aBoard is a Board with something on each page.
func aBoard() Board {
	return Board{
		Command: "run", Target: "mariadb:11.8", Version: "11.8.9", Bound: "after 10m0s", Begun: time.Now().Add(-75 * time.Second),
		Figures: []Figure{
			{Name: "cases", Metric: "cases_total", Help: "Cases that were judged.", Value: 12345, Grows: true, Charted: true},
			{Name: "judged", Metric: "judged_percent", Help: "Statements with one answer.", Value: 97.25, Charted: true, Unit: " %"},
		},
		Verdicts: []Count{{"ok", 12000}, {"violation", 345}},
		Phases:   []Phase{{"run", 0.5, 1234}, {"judge", 0.25, 617}},
		Workers:  []Worker{{1, "runs a case of input 7 at RR", time.Now()}, {2, "runs a case of input 9 at RC", time.Now()}},
		Jobs:     []Job{{"mariadb-wrong-rows-RR-0123", "reduce", time.Now()}, {"mariadb-stale-read-RC-4567", "confirm", time.Time{}}},
		Findings: []Finding{
			{ID: "mariadb-wrong-rows-RR-0123", Kind: "wrong-rows", Level: "RR", Expected: "(1) (2)", Actual: "(1)", New: true,
				Reason: "<script>alert(1)</script>", Reproduced: "10/10", File: "corpus/found/x.sql", Seen: 3,
				At: time.Now().Add(-63 * time.Second)},
			{ID: "mariadb-stale-read-RC-4567", Kind: "stale-read", Level: "RC", Seen: 1},
			{ID: "mariadb-lost-write-RC-89ab", Kind: "lost-write", Level: "RC", Seen: 1, File: "corpus/found/y.sql"},
		},
	}
}

// aged has a Server remember the minute before its Board.
func aged(s *Server) {
	const seconds = 60
	b := aBoard()
	cases, now := b.Figures[0].Value, time.Now()
	s.memory = memory{}
	for n := range seconds {
		ago := float64(seconds - n)
		b.Figures[0].Value = cases - 150*ago - 40*math.Sin(ago/4)
		b.Figures[1].Value = 97.25 - 5*math.Exp(-float64(n)/9)
		s.memory.add(&b, now.Add(-time.Duration(ago)*time.Second))
	}
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(":0", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// visitor is a browser that was given the address with the token.
func visitor(t *testing.T, s *Server) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	if code, _ := get(t, c, s.URL()); code != http.StatusOK {
		t.Fatalf("the address that is printed: %d", code)
	}
	return c
}

func get(t *testing.T, c *http.Client, address string) (int, string) {
	t.Helper()
	r, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func (s *Server) at(path string) string { return "http://" + s.listen.Addr().String() + path }

// post sends a form as a page of another site, or of none, would.
func post(t *testing.T, c *http.Client, address, origin string, form url.Values) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// TestOnlyWithToken: whoever does not know the token sees and does nothing.
func TestOnlyWithToken(t *testing.T) {
	stopped := 0
	s := start(t, Options{Stop: func() { stopped++ }})
	s.Show(aBoard())
	stranger, known := &http.Client{}, visitor(t, s)
	for _, path := range []string{"/", "/time", "/work", "/findings", "/finding?id=mariadb-wrong-rows-RR-0123", "/log",
		"/metrics", "/style.css", "/?token=", "/?token=0123456789abcdef0123456789abcdef", "/nothing"} {
		code, text := get(t, stranger, s.at(path))
		if code != http.StatusForbidden || strings.Contains(text, "mariadb") {
			t.Errorf("a stranger at %s: %d, %s", path, code, text)
		}
		want := http.StatusOK
		if path == "/nothing" {
			want = http.StatusNotFound
		}
		if !strings.Contains(path, "token") {
			if code, _ := get(t, known, s.at(path)); code != want {
				t.Errorf("at %s: %d", path, code)
			}
		}
	}
	for _, x := range []struct {
		who    *http.Client
		origin string
	}{{stranger, s.at("")}, {known, ""}, {known, "null"}, {known, "http://evil.example"}, {known, "http://127.0.0.1:1"}} {
		if code := post(t, x.who, s.at("/stop"), x.origin, nil); code != http.StatusForbidden {
			t.Errorf("a POST from %q: %d", x.origin, code)
		}
	}
	if code, _ := get(t, known, s.at("/stop")); code != http.StatusMethodNotAllowed {
		t.Errorf("a link to /stop: %d", code)
	}
	if stopped != 0 {
		t.Fatal("a stranger has ended the command")
	}
	if code := post(t, known, s.at("/stop"), s.at(""), nil); code != http.StatusOK || stopped != 1 {
		t.Errorf("stopped %d times: %d", stopped, code)
	}
	if _, text := get(t, known, s.at("/")); !strings.Contains(text, "It is ending") || !strings.Contains(text, "disabled") {
		t.Error("the page does not say that it is ending")
	}
}

// TestToken: another command on the same machine has another token and another cookie, and Prometheus needs no cookie.
func TestToken(t *testing.T) {
	a, b := start(t, Options{}), start(t, Options{})
	a.Show(aBoard())
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	get(t, c, a.URL())
	get(t, c, b.URL())
	for _, s := range []*Server{a, b} {
		if code, _ := get(t, c, s.at("/")); code != http.StatusOK {
			t.Errorf("the second address has taken the cookie of the first: %d", code)
		}
	}
	if code, text := get(t, &http.Client{}, a.at("/metrics?token="+a.token)); code != http.StatusOK ||
		!strings.Contains(text, `txnfuzz_cases_total{command="run",target="mariadb:11.8"} 12345`) ||
		!strings.Contains(text, `verdict="violation"`) {
		t.Errorf("metrics: %d\n%s", code, text)
	}
	r, err := http.NewRequest(http.MethodGet, a.at("/metrics"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+a.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("metrics by a bearer token: %v, %v", answer, err)
	}
}

// TestPages: each page shows what the Board has, as text.
func TestPages(t *testing.T) {
	s := start(t, Options{Stop: func() {}, Again: func(context.Context, Finding) (string, error) { return "", nil },
		Page: func(f Finding) ([]byte, error) { return []byte("<p>" + f.File), nil }})
	c := visitor(t, s)
	if _, text := get(t, c, s.at("/")); !strings.Contains(text, "The server is being started") {
		t.Error("the page before the first board does not say that it waits")
	}
	fmt.Fprintf(s, "seed 1\nfound something <b>\n")
	s.Show(aBoard())
	aged(s)
	for path, parts := range map[string][]string{
		"/":         {"12,345", "97.2 %", "1m15s", "ends after 10m0s", "97.2 %", "3 findings", "mariadb-stale-read-RC-4567"},
		"/time":     {"<polyline points=", "judged</b>: 97.2 %", "cases</b>: 1"},
		"/work":     {"runs a case of input 7 at RR", `<a href="/finding?id=mariadb-wrong-rows-RR-0123">`, "<td>reduce</td>", "waits", "50.0 %", "1234 µs"},
		"/findings": {"reproduced 10/10, new", "not confirmed yet", "(1) (2)"},
		"/finding?id=mariadb-wrong-rows-RR-0123": {"wrong-rows at RR", "in 3 cases, first after 12s", "<dd>reduce, for ", "corpus/found/x.sql", "Confirm again",
			"&lt;script&gt;alert(1)&lt;/script&gt;"},
		"/finding/timeline?id=mariadb-wrong-rows-RR-0123": {"<p>corpus/found/x.sql"},
		"/log": {"seed 1", "found something &lt;b&gt;"},
	} {
		code, text := get(t, c, s.at(path))
		for _, part := range parts {
			if code != http.StatusOK || !strings.Contains(text, part) {
				t.Errorf("%s (%d) has no %s\n%s", path, code, part, text)
			}
		}
		if strings.Contains(text, "<script>alert") {
			t.Errorf("%s runs what a value says", path)
		}
	}
	for _, path := range []string{"/finding", "/finding?id=none", "/finding/timeline?id=mariadb-stale-read-RC-4567"} {
		if code, _ := get(t, c, s.at(path)); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// TestAgain runs a finding again: one at a time, and what came of it is told.
func TestAgain(t *testing.T) {
	let := make(chan error)
	s := start(t, Options{Again: func(_ context.Context, f Finding) (string, error) { return "it shows in 9 of 10 runs", <-let }})
	s.Show(aBoard())
	c := visitor(t, s)
	form := url.Values{"id": {"mariadb-wrong-rows-RR-0123"}}
	for _, x := range []struct {
		err  error
		want string
	}{{nil, "it shows in 9 of 10 runs"}, {errors.New("no server"), "it could not be run: no server"}} {
		if code := post(t, c, s.at("/again"), s.at(""), form); code != http.StatusOK {
			t.Fatalf("%d", code)
		}
		if code := post(t, c, s.at("/again"), s.at(""), form); code != http.StatusTooManyRequests {
			t.Errorf("twice at a time: %d", code)
		}
		page := s.at("/finding?id=mariadb-wrong-rows-RR-0123")
		if _, text := get(t, c, page); !strings.Contains(text, "is being run again") {
			t.Error("the page does not say that it is being run")
		}
		let <- x.err
		told := func() bool { _, text := get(t, c, page); return strings.Contains(text, x.want) }
		for begun := time.Now(); !told(); {
			if time.Since(begun) > 10*time.Second {
				t.Fatalf("the page does not tell: %s", x.want)
			}
		}
	}
	for _, id := range []string{"none", "mariadb-stale-read-RC-4567"} { // which has no file
		if code := post(t, c, s.at("/again"), s.at(""), url.Values{"id": {id}}); code != http.StatusNotFound {
			t.Errorf("%s: %d", id, code)
		}
	}
}

// TestFlood: strangers who ask a lot, or say nothing, keep nobody from the pages.
func TestFlood(t *testing.T) {
	s := start(t, Options{})
	s.Show(aBoard())
	c := visitor(t, s)
	var wg sync.WaitGroup
	for range 40 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				r, err := http.Get(s.at("/time"))
				if err != nil {
					t.Error(err)
					return
				}
				_ = r.Body.Close()
			}
		}()
	}
	for range 100 {
		if code, _ := get(t, c, s.at("/time")); code != http.StatusOK {
			t.Fatalf("%d", code)
		}
	}
	wg.Wait()
}

// TestMemory: a run of any length is remembered in bounded space, from its beginning, evenly.
func TestMemory(t *testing.T) {
	m := &memory{}
	begun := time.Unix(1e9, 0)
	f := Figure{Name: "n", Grows: true}
	const seconds = 20_000
	for n := range seconds {
		f.Value = float64(10 * n)
		m.add(&Board{Figures: []Figure{f}}, begun.Add(time.Duration(n)*time.Second))
	}
	line := m.line(&f, begun)
	if len(m.samples) > mostSamples || len(line) < mostSamples/3 {
		t.Fatalf("%d samples, %d points", len(m.samples), len(line))
	}
	for i, p := range line {
		if p.y != 10 {
			t.Fatalf("point %d: %v a second", i, p.y)
		}
		if i > 0 && p.x-line[i-1].x != line[1].x-line[0].x {
			t.Fatalf("point %d: %v behind %v", i, p.x, line[i-1].x)
		}
	}
	if last := line[len(line)-1].x; last < seconds-2*line[0].x-1 {
		t.Errorf("the newest point is of second %v", last)
	}
}

// TestBadAddress: what is no address, or is taken, is said.
func TestBadAddress(t *testing.T) {
	s := start(t, Options{})
	for address, want := range map[string]string{
		"8080": "is no address such as", "": "is no address such as", s.listen.Addr().String(): "address already in use",
		"nowhere.invalid:80": "listen for browsers",
	} {
		if _, err := Start(address, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", address, err)
		}
	}
}
