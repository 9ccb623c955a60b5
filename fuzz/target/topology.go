package target

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// galeraUsual is how many nodes a Galera cluster has of which the target's name does not say how many, fewestOfSeveral
// how many servers each topology has at least.
const galeraUsual, fewestOfSeveral = 3, 2

// sizeOptions hold the number of a cluster's nodes, plainOptions can be left out of a name of several servers, which
// are still several then.
var (
	sizeOptions  = []string{"nodes", "group"}
	plainOptions = []string{"workers", "order", "sync", "primary"}
	// pairOptions make a server and another one that follows it.
	pairOptions = []string{"replica", "standby"}
	// clusterVariables begin the names of variables that a server alone does not have.
	clusterVariables = []string{"wsrep_", "group_replication_"}
)

// loggedAs are the options with which a server alone has the binary log of a primary with such a replica.
var loggedAs = map[string][]string{
	"row": {"binlog=row"}, "mixed": {"log_bin=ON", "binlog_format=MIXED"},
	"statement": {"log_bin=ON", "binlog_format=STATEMENT"},
}

// SimplerTopologies returns names of targets that are simpler in one respect than a target of several servers which
// txnfuzz starts, the simplest first: with fewer servers, or without an option that says how these work together.
// sessions is the highest number of a session in a case that is to run there: where each is on a node of its own there
// are as many nodes. alone says that one server alone is of use, too. It returns nil for a target that is one server.
func SimplerTopologies(name string, sessions int, alone bool) (names []string) {
	if !OfSeveral(name) {
		return nil
	}
	t := parseTopology(name)
	if alone {
		names = t.alone()
	}
	least := fewestOfSeveral
	if t.apart() {
		least = max(least, sessions)
	}
	for n := least; n < t.servers(); n++ {
		names = append(names, t.sized(n))
	}
	return append(names, t.plainer(alone)...)
}

// Extent counts the servers of a target that txnfuzz starts, and what its name says of how these work together.
func Extent(name string) (servers, options int) {
	if !OfSeveral(name) {
		return 1, 0
	}
	t := parseTopology(name)
	for _, o := range t.options {
		if slices.Contains(plainOptions, optionName(o)) || optionName(o) == pairOptions[0] && o != rowReplica {
			options++
		}
	}
	return t.servers(), options
}

const rowReplica = "replica=row"

// SplitSettings is SplitOptions, but that the server has those options, too, which make it several servers.
func SplitSettings(name string) (server string, options []string) {
	server, options = SplitOptions(name)
	if !OfSeveral(name) {
		return server, options
	}
	ours := slices.Concat(sizeOptions, plainOptions, pairOptions)
	var settings []string
	for _, o := range options {
		if slices.Contains(ours, optionName(o)) {
			server += "," + o
		} else {
			settings = append(settings, o)
		}
	}
	return server, settings
}

// topology is the name of a target of several servers in its parts.
type topology struct {
	server  string
	options []string
}

func parseTopology(name string) topology {
	server, options := SplitOptions(name)
	return topology{server, options}
}

// optionName spells the name of an option as the server that is started does.
func optionName(option string) string {
	name, _, _ := strings.Cut(option, "=")
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
}

// find returns where one of some options is, and its value; -1: none is there.
func (t topology) find(names ...string) (at int, value string) {
	at = slices.IndexFunc(t.options, func(o string) bool { return slices.Contains(names, optionName(o)) })
	if at >= 0 {
		_, value, _ = strings.Cut(t.options[at], "=")
	}
	return at, strings.ToLower(value)
}

func (t topology) servers() int {
	if at, value := t.find(sizeOptions...); at >= 0 {
		n, _ := strconv.Atoi(value)
		return n
	}
	if t.galera() {
		return galeraUsual
	}
	return fewestOfSeveral
}

func (t topology) galera() bool { return strings.HasPrefix(t.server, galera) }

const galera = "galera"

// apart says that each session of a case is on a node of its own.
func (t topology) apart() bool {
	_, primary := t.find("primary")
	return t.galera() || primary == "multi"
}

// sized is the same with another number of nodes.
func (t topology) sized(n int) string {
	options := slices.Clone(t.options)
	if at, _ := t.find(sizeOptions...); at >= 0 {
		options[at] = fmt.Sprintf("%s=%d", optionName(options[at]), n)
	} else {
		options = slices.Insert(options, 0, fmt.Sprintf("nodes=%d", n))
	}
	return JoinOptions(t.server, options)
}

// without leaves out the options that drop names.
func (t topology) without(drop func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(t.options), func(o string) bool { return drop(optionName(o)) })
}

// alone are the server alone as it is shipped, and with the binary log that it has as one of several.
func (t topology) alone() []string {
	ours := slices.Concat(sizeOptions, plainOptions, pairOptions)
	left := t.without(func(name string) bool {
		return slices.Contains(ours, name) ||
			slices.ContainsFunc(clusterVariables, func(start string) bool { return strings.HasPrefix(name, start) })
	})
	if t.galera() { // whose nodes have no binary log
		return []string{JoinOptions("mariadb"+strings.TrimPrefix(t.server, galera), left)}
	}
	names := []string{JoinOptions(t.server, left)}
	form := "row"
	at, value := t.find(pairOptions[0])
	if at >= 0 {
		form = value
	} else if at, _ := t.find("standby"); at >= 0 {
		return names
	}
	return append(names, JoinOptions(t.server, append(left, loggedAs[form]...)))
}

// plainer are the same servers with fewer options. One node alone that takes writes says nothing of how several who do
// come to hold the same.
func (t topology) plainer(alone bool) (names []string) {
	removable := func(name string) bool {
		return slices.Contains(plainOptions, name) && (name != "primary" || alone)
	}
	var single []string
	for _, o := range t.options {
		if own := optionName(o); removable(own) {
			single = append(single, JoinOptions(t.server, t.without(func(name string) bool { return name == own })))
		}
	}
	if len(single) > 1 {
		names = append(names, JoinOptions(t.server, t.without(removable)))
	}
	names = append(names, single...)
	if at, form := t.find(pairOptions[0]); at >= 0 && form != "row" {
		options := slices.Clone(t.options)
		options[at] = rowReplica
		names = append(names, JoinOptions(t.server, options))
	}
	return names
}
