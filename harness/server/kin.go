package server

import (
	"context"
	"io"
	"regexp"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// program is how the servers of a family are found, which those of other families are in another way.
type program interface {
	// programs are the names under which the PATH may lead to a server, best first.
	programs() []string
	// place is where in a folder of scripts/servers the program lies.
	place() string
	// unpacked completes what is known of the server in such a folder.
	unpacked(in *installation, root string) error
	// version returns the arguments that make a program print its version and end, and
	// what the version is in what it prints.
	version() (args []string, text *regexp.Regexp)
	// made says that a program which prints this version is of the family.
	made(version string) bool
}

// kin is what the servers of a family that speaks MySQL's protocol have in common: how one is found,
// started and prepared.
type kin interface {
	program
	// durable fails where no server of the family can keep what it acknowledged.
	durable() error
	// template returns the data directory that new instances begin with, which it builds
	// on first use; "": they make their own.
	template(ctx context.Context, in installation, progress io.Writer) (string, error)
	// command returns the program and its arguments for an instance in a folder.
	command(b *private, dir string) ([]string, error)
	// doors opens an instance in a folder to the clients of b's port, if it is to have one:
	// the arguments for it, how they get in, and the password that root then needs.
	doors(b *private, dir string) (args []string, tcp *mysql.Config, root string, err error)
	// solitary says that an instance can be asked who waits only while it does nothing else.
	solitary() bool
	// greet checks and prepares an instance that answers for the first time.
	greet(ctx context.Context, b *private, s *side) error
}

func programOf(family history.DBMS) program {
	if family == history.PostgreSQL {
		return postgres{}
	}
	return kinOf(family)
}

func kinOf(family history.DBMS) kin {
	if family == history.TiDB {
		return tidb{}
	}
	return innodb{family}
}
