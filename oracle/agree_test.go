package oracle

import "testing"

// TestDisagreementIsAViolation: whatever the statements answered, a table that
// does not agree with its indexes is a finding.
func TestDisagreementIsAViolation(t *testing.T) {
	records, err := LoadRecords("testdata/innodb-honest.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	records[0].History.Disagreement = "table t: index k gives (1), the final read gave (1) (2)"
	v, err := records[0].Judge("agree")
	if err != nil {
		t.Fatal(err)
	}
	if v.Outcome != Violation || v.Kind != "index-disagreement" || v.Fingerprint == "" {
		t.Errorf("judged %s %s %q", v.Outcome, v.Kind, v.Fingerprint)
	}
}
