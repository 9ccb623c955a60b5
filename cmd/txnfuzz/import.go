package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/foreign"
	"github.com/txnfuzz/txnfuzz/corpus/hermitage"
	"github.com/txnfuzz/txnfuzz/corpus/isolationspec"
	"github.com/txnfuzz/txnfuzz/corpus/mysqltest"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
)

func newCorpusImport() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "import FILE|DIR... [flags]",
		Short: "Copy published cases into the corpus, in the format of txnfuzz",
		Long: `Reads cases in the format of txnfuzz, or in the format in which Troc, DT2 and Fucci
publish theirs (.txt), the specs of PostgreSQL's isolationtester (.spec; each permutation
becomes a case), the pages of Hermitage (.md; each test becomes a case), and the files of
mysqltest, with which MySQL and MariaDB test themselves (.test; each part in which several
connections speak becomes a case). Writes those whose statements the corpus does not hold
yet at these levels, with file names such as maria-32898.sql.

Such a file may hold what no case can say: functions, tables that inherit, LOCK TABLES,
debug sync points. What is not imported is counted by reason; that is no error.`,
		Example: `  txnfuzz corpus import ../Fucci/cases/mariadb32898.txt
  txnfuzz corpus import ../DT2/cases --out corpus/known
  txnfuzz corpus import ../postgres/src/test/isolation/specs --out specs
  txnfuzz corpus import ../hermitage/postgres.md --out hermitage
  txnfuzz corpus import ../mysql-server/mysql-test/suite/innodb/t --out innodb`,
		Args: wantCases,
		RunE: func(cmd *cobra.Command, args []string) error {
			cases, refused, err := loadForeign(args, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			done, err := corpus.ImportCases(out, cases)
			fresh := 0
			for _, d := range done {
				verb := "is in"
				if !d.Known {
					verb = "written to"
					fresh++
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s %s\n", d.From, verb, d.To)
			}
			if err := tellRefused(cmd.OutOrStdout(), len(cases), refused); err != nil {
				return err
			}
			if err == nil && fresh > 0 {
				fmt.Fprintln(cmd.OutOrStdout(), thenRecord)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", findings.KnownDir, "folder to write to")
	return cmd
}

const thenRecord = "Look at `source` and `reported`, then record what they do: go test ./fuzz -run TestCorpus -update"

// foreignReaders read the files of other tools; looks, where there is one, tells them from other files of a folder.
// counted says that malformed files among others are counted: mysqltest's own tests are so on purpose.
var foreignReaders = map[string]struct {
	cases   func(string, []byte) (*foreign.Read, error)
	looks   func([]byte) bool
	counted bool
}{
	isolationspec.Ext: {cases: isolationspec.Cases},
	hermitage.Ext:     {cases: hermitage.Cases, looks: hermitage.Looks},
	mysqltest.Ext:     {cases: mysqltestCases, looks: mysqltest.Looks, counted: true},
}

// loadForeign is loadCases that also reads what other tools have, and what of it is no case.
func loadForeign(paths []string, warnings io.Writer) (out []corpus.Stored, refused []*foreign.Refusal, err error) {
	var own []string
	var errs []error
	for _, p := range paths {
		read, n, err := foreignBelow(p, len(paths) == 1)
		if err != nil {
			errs = append(errs, parts(err)...)
		}
		out, refused = append(out, read.Cases...), append(refused, read.Refused...)
		if n == 0 || holdsOwn(p) {
			own = append(own, p)
		}
	}
	if len(errs) > 0 {
		return nil, nil, &usageError{errors.Join(errs...)}
	}
	if len(own) > 0 {
		cases, err := loadCases(own, warnings)
		if err != nil {
			return nil, nil, err
		}
		out = append(cases, out...)
	}
	return out, refused, nil
}

// foreignBelow reads a file of another tool, or all such files below a folder, and says how many there are. alone says
// that no other path is read.
func foreignBelow(path string, alone bool) (out foreign.Read, files int, err error) {
	var errs []error
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		by, known := foreignReaders[filepath.Ext(file)]
		switch {
		case errors.Is(err, os.ErrNotExist) && file == path:
			return nil // who reads the cases tells of it
		case err != nil:
			return err
		case d.IsDir() && file != path && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !known:
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if file != path && by.looks != nil && !by.looks(text) {
			return nil
		}
		files++
		read, err := by.cases(file, text)
		if err != nil && by.counted && !(alone && file == path) {
			detail := strings.TrimPrefix(err.Error(), filepath.Dir(file)+string(filepath.Separator))
			no := &foreign.Refusal{From: file, Reason: "a file that is not read", Detail: detail}
			out.Refused = append(out.Refused, no)
			return nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("load cases: %w", err))
			return nil
		}
		out.Cases, out.Refused = append(out.Cases, read.Cases...), append(out.Refused, read.Refused...)
		return nil
	})
	if err != nil {
		errs = append(errs, fmt.Errorf("load cases: %w", err))
	}
	return out, files, errors.Join(errs...)
}

// holdsOwn reports whether a folder holds cases besides the files of other tools.
func holdsOwn(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return false
	}
	stored, err := corpus.LoadAny(path)
	return err != nil || len(stored) > 0
}

// tellRefused prints how many cases there are, and how many there are not for each reason, with an example.
func tellRefused(w io.Writer, cases int, refused []*foreign.Refusal) error {
	if len(refused) == 0 {
		return nil
	}
	counts, examples := map[string]int{}, map[string]*foreign.Refusal{}
	var reasons []string
	for _, r := range refused {
		if counts[r.Reason]++; counts[r.Reason] == 1 {
			reasons, examples[r.Reason] = append(reasons, r.Reason), r
		}
	}
	sort.SliceStable(reasons, func(i, j int) bool { return counts[reasons[i]] > counts[reasons[j]] })
	const summary = "\n%s read; %d not imported, since a case cannot express them:\n"
	fmt.Fprintf(w, summary, campaign.Count(cases, "case"), len(refused))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range reasons {
		fmt.Fprintf(t, "%6d\t%s\t%s: %s\n", counts[r], r, filepath.Base(examples[r].From), short(examples[r].Detail))
	}
	return t.Flush()
}

// short cuts a statement off that would not fit on a line.
func short(sql string) string {
	const longest = 60
	if r := []rune(sql); len(r) > longest {
		return string(r[:longest-1]) + "…"
	}
	return sql
}
