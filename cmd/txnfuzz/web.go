package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/report"
	"github.com/txnfuzz/txnfuzz/fuzz/web"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// addWeb adds --web to a command.
func addWeb(f *pflag.FlagSet, address *string) {
	f.StringVar(address, "web", "", "show what it is doing in a browser, at this address, such as :8080 (on 127.0.0.1) or 0.0.0.0:8080; 0 is any free port. The address to open is printed. Its /metrics is for Prometheus")
}

// watched is a command that can be watched in a browser; one that cannot has none.
type watched struct {
	server *web.Server
	stop   context.CancelFunc
}

// watch serves pages at an address, if there is one, until end is called. The context that it returns ends when somebody
// presses Stop.
func watch(cmd *cobra.Command, address, target string) (w *watched, ctx context.Context, err error) {
	if address == "" {
		return nil, cmd.Context(), nil
	}
	ctx, stop := context.WithCancel(cmd.Context())
	s, err := web.Start(address, web.Options{
		Stop: stop, Page: timelinePage,
		Again: func(ctx context.Context, f web.Finding) (string, error) { return replayAgain(ctx, cmd, f, target) },
	})
	if err != nil {
		stop()
		return nil, nil, usagef("--web: %w", err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "watch it at %s\n", s.URL())
	return &watched{s, stop}, ctx, nil
}

// progress copies lines of progress to the page of the log.
func (w *watched) progress(to io.Writer) io.Writer {
	if w == nil {
		return to
	}
	return io.MultiWriter(to, logged{w.server})
}

// logged leaves out the lines that a terminal draws in place: the pages have their numbers.
type logged struct{ to io.Writer }

func (l logged) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte(campaign.AreaMark)) {
		return len(p), nil
	}
	return l.to.Write(p)
}

// end ends the service, whose numbers no longer change.
func (w *watched) end() error {
	if w == nil {
		return nil
	}
	w.stop()
	return w.server.Close()
}

// timelinePage is what txnfuzz report writes of a finding that was recorded.
func timelinePage(f web.Finding) ([]byte, error) {
	stored, err := casesOf([]string{f.File}, io.Discard)
	if err != nil {
		return nil, err
	}
	items, err := itemsOf(context.Background(), stored, "", io.Discard)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = report.Write(&page, "txnfuzz: "+f.ID, items)
	return page.Bytes(), err
}

// runsAgain is how often a finding is run again at a request.
const runsAgain = 10

// replayAgain replays the file of a finding in a process of its own, so that a server that dies of it takes nothing
// along, and tells in how many runs it shows.
func replayAgain(ctx context.Context, cmd *cobra.Command, f web.Finding, target string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	args := []string{"replay", "--target", target, "--json", "-"}
	if binary := cmd.Flags().Lookup("binary"); binary != nil && binary.Changed {
		args = append(args, "--binary", binary.Value.String())
	}
	for range runsAgain {
		args = append(args, f.File)
	}
	replay := exec.CommandContext(ctx, self, args...)
	var out, told bytes.Buffer
	replay.Stdout, replay.Stderr = &out, &told
	err = replay.Run()
	var replayed []findings.Replayed
	if e := json.Unmarshal(out.Bytes(), &replayed); e != nil {
		return "", errors.Join(err, fmt.Errorf("%s", bytes.TrimSpace(told.Bytes())))
	}
	shows := 0
	for _, r := range replayed {
		if string(r.Kind) == f.Kind && (r.Verdict == oracle.Violation || r.Verdict == oracle.Known) {
			shows++
		}
	}
	return fmt.Sprintf("it shows in %d of %d runs", shows, len(replayed)), nil
}
