package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"
)

// Options say what a Server shows and may do.
type Options struct {
	// Stop ends the command as Ctrl-C does.
	Stop func()
	// Again runs the case of a finding again, and returns what came of it, in a line. nil: nobody can.
	Again func(ctx context.Context, f Finding) (string, error)
	// Page writes the timeline of a finding as a page. nil: there is none.
	Page func(f Finding) ([]byte, error)
}

// Server serves the pages of one command. It is safe for several goroutines.
type Server struct {
	o      Options
	token  string
	listen net.Listener
	http   *http.Server
	ended  chan struct{}

	mu      sync.Mutex
	board   *Board
	memory  memory
	log     []string
	again   map[string]rerun
	stopped bool
}

// rerun is what came of running a finding again; empty: it is under way.
type rerun struct{ came string }

// Bounds on what others can make this process do: connections at a time, bytes of a header, seconds of a request, lines of
// the log that are kept, findings that are run again at a time.
const (
	mostConnections = 64
	mostHeader      = 16 << 10
	patience        = 10 * time.Second
	mostLines       = 200
	mostReruns      = 1
)

// Start listens on an address such as 127.0.0.1:8080 or 127.0.0.1:0, and serves until Close.
func Start(address string, o Options) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no address such as 127.0.0.1:8080 or :8080: %w", address, err)
	}
	if host == "" {
		host = "127.0.0.1" // whoever wants others to see it says so
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen for browsers: %w", err)
	}
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return nil, errors.Join(fmt.Errorf("draw a token: %w", err), l.Close())
	}
	s := &Server{o: o, token: hex.EncodeToString(random), listen: l, ended: make(chan struct{}), again: map[string]rerun{}}
	s.http = &http.Server{
		Handler: s.routes(), ReadHeaderTimeout: patience, ReadTimeout: patience, WriteTimeout: patience,
		IdleTimeout: time.Minute, MaxHeaderBytes: mostHeader,
	}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(netutil.LimitListener(l, mostConnections)) // it ends with Close
	}()
	return s, nil
}

// URL is the address of the pages, with the token.
func (s *Server) URL() string { return "http://" + s.listen.Addr().String() + "/?token=" + s.token }

// Close ends the service. Requests under way are cut off.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.ended
	if err != nil {
		return fmt.Errorf("end the service for browsers: %w", err)
	}
	return nil
}

// Show makes a Board the newest one.
func (s *Server) Show(b Board) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board = &b
	s.memory.add(&b, time.Now())
}

// Write takes lines of progress for the page of the log; it never fails.
func (s *Server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.SplitSeq(strings.TrimRight(string(p), "\n"), "\n") {
		s.log = append(s.log, line)
	}
	if n := len(s.log); n > mostLines {
		s.log = append(s.log[:0], s.log[n-mostLines:]...)
	}
	return len(p), nil
}

// newest returns the newest Board; ok is false before the first.
func (s *Server) newest() (Board, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.board == nil {
		return Board{}, false
	}
	return *s.board, true
}

func (s *Server) routes() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{s.newest})
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	m := http.NewServeMux()
	for path, p := range pages {
		m.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { s.page(w, r, p) })
	}
	m.HandleFunc("GET /finding/timeline", s.timeline)
	m.HandleFunc("GET /style.css", asset("text/css; charset=utf-8", styleCSS))
	m.HandleFunc("GET /live.js", asset("text/javascript; charset=utf-8", liveJS))
	m.Handle("GET /metrics", metrics)
	m.HandleFunc("POST /stop", s.stop)
	m.HandleFunc("POST /again", s.rerun)
	return s.guard(m)
}

func asset(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write([]byte(text))
	}
}
