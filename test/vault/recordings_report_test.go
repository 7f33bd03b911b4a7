package vault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tally counts steps by how they compare with the recording.
type tally struct{ steps, same, differs, excused int }

// share returns the percentage of steps that are the same. without is subtracted from the number of all steps.
func (c tally) share(without int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(c.same)/float64(c.steps-without))
}

// add counts a step.
func (c *tally) add(s step) {
	c.steps++
	switch {
	case excused[stepName(s.Row)] != "":
		c.excused++
	case differing[stepName(s.Row)] != "":
		c.differs++
	default:
		c.same++
	}
}

// report is the content of docs/reference/vault/endpoints.md.
type report struct {
	total      tally
	byEndpoint map[string]*tally
	steps      []step
}

func newReport(steps []step) report {
	r := report{byEndpoint: map[string]*tally{}, steps: steps}
	for _, endpoint := range inScope() {
		r.byEndpoint[endpoint] = &tally{}
	}
	for _, s := range steps {
		r.total.add(s)
		r.byEndpoint[s.Endpoint()].add(s)
	}
	return r
}

// markdown returns the text of the file. It is the same in every run.
func (r report) markdown() string {
	var out strings.Builder
	out.WriteString("# The vault against the kernel\n\nMade by a replay of the recordings of a SiYuan kernel; `go generate ./test/vault` writes it.\n" +
		"In scope is every recorded step of an endpoint that an action of the tools calls. A step is the same when status, code,\n" +
		"kinds, keys and values are, ids and times mapped. Steps named `scenario#number` stand in the recordings.\n\n")
	fmt.Fprintf(&out, "| steps in scope | same | differ | excused | same of those not excused | same of all |\n|---:|---:|---:|---:|---:|---:|\n"+
		"| %d | %d | %d | %d | %s | %s |\n\n", r.total.steps, r.total.same, r.total.differs, r.total.excused,
		r.total.share(r.total.excused), r.total.share(0))
	out.WriteString("## Endpoints\n\n| endpoint | steps | same | differ | excused | why |\n|---|---:|---:|---:|---:|---|\n")
	for _, endpoint := range slices.Sorted(maps.Keys(r.byEndpoint)) {
		c := r.byEndpoint[endpoint]
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d | %s |\n", strings.TrimPrefix(endpoint, "/api/"), c.steps, c.same, c.differs, c.excused, r.reasonsOf(endpoint))
	}
	r.writeSteps(&out, "Steps that differ", "The vault answers otherwise, on purpose or for want of something. They count as different.", differing)
	r.writeSteps(&out, "Steps that are excused", "No kernel would answer like that again, or only by chance. They do not count.", excused)
	return out.String()
}

// reasonsOf returns the reasons why steps of an endpoint are not the same, each once.
func (r report) reasonsOf(endpoint string) string {
	var reasons []string
	for _, s := range r.steps {
		if s.Endpoint() != endpoint {
			continue
		}
		if reason := differing[stepName(s.Row)] + excused[stepName(s.Row)]; reason != "" && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// writeSteps writes a table of the steps that have a reason in reasons.
func (r report) writeSteps(out *strings.Builder, title, about string, reasons map[string]string) {
	fmt.Fprintf(out, "\n## %s\n\n%s\n\n| step | endpoint | what it was | why |\n|---|---|---|---|\n", title, about)
	for _, s := range r.steps {
		if reason := reasons[stepName(s.Row)]; reason != "" {
			fmt.Fprintf(out, "| %s | %s | %s | %s |\n", stepName(s.Row), strings.TrimPrefix(s.Endpoint(), "/api/"), strings.ReplaceAll(s.Step, "|", "/"), reason)
		}
	}
}
