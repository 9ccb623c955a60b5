package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
)

// documents returns the documents of a manifest as JSON.
func documents(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return asJSON(t, text)
}

func asJSON(t *testing.T, text []byte) [][]byte {
	t.Helper()
	var out [][]byte
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document map[string]any
		err := d.Decode(&document)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		one, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
}

// strictly decodes a document and fails where it has a field that the type lacks, or one
// of another type.
func strictly(text []byte, into any) error {
	unknown, err := kjson.UnmarshalStrict(text, into)
	return errors.Join(append(unknown, err)...)
}

func TestJob(t *testing.T) {
	list := documents(t, filepath.Join("..", "..", "docs", "fleet", "job.yaml"))
	if len(list) != 2 {
		t.Fatalf("%d documents", len(list))
	}
	var job batch.Job
	var merge batch.CronJob
	if err := errors.Join(strictly(list[0], &job), strictly(list[1], &merge)); err != nil {
		t.Fatal(err)
	}
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || merge.APIVersion != "batch/v1" || merge.Kind != "CronJob" {
		t.Errorf("kinds %s %s, %s %s", job.APIVersion, job.Kind, merge.APIVersion, merge.Kind)
	}
	s := job.Spec
	// What the API server refuses beside unknown fields, and what would lose a shard.
	if *s.CompletionMode != batch.IndexedCompletion || s.Completions == nil || s.Parallelism == nil || s.BackoffLimitPerIndex == nil {
		t.Error("podFailurePolicy FailIndex and JOB_COMPLETION_INDEX need an Indexed Job with backoffLimitPerIndex")
	}
	for _, p := range []core.PodSpec{s.Template.Spec, merge.Spec.JobTemplate.Spec.Template.Spec} {
		if p.RestartPolicy != core.RestartPolicyNever {
			t.Errorf("restartPolicy %s: a podFailurePolicy needs Never", p.RestartPolicy)
		}
	}
	for _, r := range s.PodFailurePolicy.Rules {
		if (r.OnExitCodes == nil) == (len(r.OnPodConditions) == 0) {
			t.Errorf("rule %+v needs exit codes or conditions, and not both", r)
		}
	}
	args := strings.Join(s.Template.Spec.Containers[0].Args, " ")
	store := merge.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Command[2]
	if !strings.Contains(args, "shard "+store+` "$JOB_COMPLETION_INDEX"`) || !strings.Contains(args, "--fail-on none") {
		t.Errorf("the shards run %s, the merge reads %s", args, store)
	}
}

// TestStrict: what a manifest must not have is an error.
func TestStrict(t *testing.T) {
	for text, want := range map[string]string{
		"spec: {completionMode: Indexed}":                                 "",
		"spec: {completions: 3, complements: 3}":                          "complements",
		"spec: {template: {spec: {restartPolicys: Never}}}":               "restartPolicys",
		"spec: {completions: three}":                                      "completions",
		"spec: {template: {spec: {containers: [{resources: {cpu: 1}}]}}}": "cpu",
	} {
		var job batch.Job
		err := strictly(asJSON(t, []byte(text))[0], &job)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
