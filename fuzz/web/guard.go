package web

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
)

// cookie holds the token. Cookies know no port: its name holds it, so that two commands on one machine do not take
// each other's.
func (s *Server) cookie() string {
	address := s.listen.Addr().String()
	return "txnfuzz-" + address[strings.LastIndexByte(address, ':')+1:]
}

// policy lets a page load what this server has, and nothing else.
// https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Content-Security-Policy
const policy = "default-src 'none'; style-src 'self'; img-src data:; script-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// guard lets only those in who know the token: from the address, which then becomes a cookie, from that, or as a bearer
// token, as Prometheus sends one.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer a form's POST has no origin
		h.Set("Cache-Control", "no-store")
		switch {
		case r.Method == http.MethodGet && s.knows(r.URL.Query().Get("token")):
			if r.URL.Path == "/metrics" {
				break // a scraper keeps no cookies
			}
			http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: s.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			query := r.URL.Query()
			query.Del("token")
			to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: query.Encode()}
			http.Redirect(w, r, to.String(), http.StatusSeeOther)
			return
		case s.knows(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")):
		case !s.sent(r):
			http.Error(w, "This address needs its token: open the one that txnfuzz has printed.", http.StatusForbidden)
			return
		case r.Method == http.MethodPost && !sameSite(r):
			http.Error(w, "This must come from a page of txnfuzz itself.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) knows(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

// sent says that a browser has sent the cookie.
func (s *Server) sent(r *http.Request) bool {
	c, err := r.Cookie(s.cookie())
	return err == nil && s.knows(c.Value)
}

// sameSite says that a page of this server has sent a form: browsers tell with each POST from which site it is.
// https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Origin
func sameSite(r *http.Request) bool {
	from, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && from.Host != "" && from.Host == r.Host
}
