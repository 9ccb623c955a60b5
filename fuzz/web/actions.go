package web

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// stop ends the command.
func (s *Server) stop(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	if s.o.Stop != nil {
		s.o.Stop()
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// againPatience bounds the runs of one finding.
const againPatience = 5 * time.Minute

// rerun runs a finding again, beside the command, unless another one is being run.
func (s *Server) rerun(w http.ResponseWriter, r *http.Request) {
	f, ok := s.finding(r)
	if !ok || s.o.Again == nil || f.File == "" {
		http.Error(w, "There is no such finding, or it has no file yet.", http.StatusNotFound)
		return
	}
	s.mu.Lock()
	busy := 0
	for _, x := range s.again {
		if x.came == "" {
			busy++
		}
	}
	if busy >= mostReruns {
		s.mu.Unlock()
		http.Error(w, "A finding is being run again; wait for it.", http.StatusTooManyRequests)
		return
	}
	s.again[f.ID] = rerun{}
	s.mu.Unlock()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), againPatience)
		defer cancel()
		came, err := s.o.Again(ctx, f)
		if err != nil {
			came = "it could not be run: " + err.Error()
		}
		s.mu.Lock()
		s.again[f.ID] = rerun{came}
		s.mu.Unlock()
	}()
	http.Redirect(w, r, "/finding?id="+url.QueryEscape(f.ID), http.StatusSeeOther)
}

// finding is the one that a request names.
func (s *Server) finding(r *http.Request) (Finding, bool) {
	b, _ := s.newest()
	for _, f := range b.Findings {
		if f.ID == r.FormValue("id") {
			return f, true
		}
	}
	return Finding{}, false
}

// timeline shows how a finding came about.
func (s *Server) timeline(w http.ResponseWriter, r *http.Request) {
	f, ok := s.finding(r)
	if !ok || s.o.Page == nil || f.File == "" {
		http.Error(w, "There is no such finding, or it has no file yet.", http.StatusNotFound)
		return
	}
	page, err := s.o.Page(f)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	// It is one file with its style within, and has a policy of its own in it.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page)
}
