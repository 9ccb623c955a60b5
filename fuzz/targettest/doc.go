// Package targettest opens targets for the tests of the rooms behind target, and makes the
// cases and trials that several of them use. A test is skipped where its server is not
// installed, and fails there if TXNFUZZ_REQUIRE_SERVERS is set.
package targettest
