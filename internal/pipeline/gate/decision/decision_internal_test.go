package decision

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/tool"
)

//go:generate go test . -run ^TestPage$ -update

var update = flag.Bool("update", false, "write the page about the table")

var (
	origins              = []tool.Origin{tool.Direct, tool.Chat, tool.CLIAgent, tool.MCPLocal, tool.MCPRemote, tool.Scheduled}
	surfaces             = []Surface{Nobody, Code, Person}
	outcomesByStrictness = []Outcome{Run, Ask, Deny}
)

// forEveryCase calls f with every combination of the fields of a Case.
func forEveryCase(f func(Case)) {
	for _, origin := range origins {
		for _, risk := range risks {
			for _, mode := range []string{"", off, monitor, Enforce} {
				for _, verdict := range verdicts {
					for _, threshold := range []tool.Risk{"", tool.RiskHigh, tool.RiskMedium} {
						for _, surface := range surfaces {
							for bits := range 8 {
								f(Case{
									Origin: origin, Risk: risk, Guardian: mode, Verdict: verdict, Threshold: threshold, Surface: surface,
									Granted: bits&1 != 0, MustAsk: bits&2 != 0, Clients: bits&4 != 0,
								})
							}
						}
					}
				}
			}
		}
	}
}

// strictness decides c and returns how strict the outcome is: its place in outcomesByStrictness.
func strictness(c Case) int { return slices.Index(outcomesByStrictness, Decide(c).Outcome) }

// TestEveryCell visits every case and checks the rules that hold for all of them.
func TestEveryCell(t *testing.T) {
	t.Parallel()
	visited := map[string]bool{}
	failures := 0
	forEveryCase(func(c Case) {
		d := Decide(c)
		visited[d.Rule] = true
		fail := func(what string) {
			if failures++; failures <= 20 {
				t.Errorf("%s: %+v gives %+v", what, c, d)
			}
		}
		if d.Rule == "unknown" || !slices.Contains(outcomesByStrictness, d.Outcome) {
			fail("not in the table")
		}
		if c.Surface == Nobody && d.Outcome == Ask {
			fail("asks where nobody can be asked")
		}
		if !RiskCounts(c.Origin, c.Clients) && !c.MustAsk && d.Outcome != Run {
			fail("the risk counts")
		}
		if d.Risk == tool.RiskCritical && d.Rule == "granted" {
			fail("a grant for what is critical")
		}
		if c.MustAsk && d.Outcome == Run && d.Rule != "granted" {
			fail("what must be asked about runs")
		}
		if c.Risk == tool.RiskNone && c.Verdict == "" && !c.MustAsk && d.Outcome != Run {
			fail("reading does not run")
		}
		if i := slices.Index(risks[:], c.Risk); i+1 < len(risks) {
			more := c
			if more.Risk = risks[i+1]; strictness(more) < strictness(c) {
				fail("more risk is less strict")
			}
		}
		if i := slices.Index(risks[:], c.Verdict); i >= 0 && i+1 < len(risks) {
			more := c
			if more.Verdict = risks[i+1]; strictness(more) < strictness(c) {
				fail("a worse verdict is less strict")
			}
		}
		silent, none := c, c
		if silent.Verdict, none.Verdict = failed, tool.RiskNone; strictness(silent) < strictness(none) {
			fail("a guardian that fails is less strict than one that finds nothing")
		}
		if c.Guardian == Enforce && c.Verdict == failed && d.Risk != tool.RiskHigh && d.Risk != tool.RiskCritical {
			fail("a guardian that fails does not count as high risk")
		}
		for change, more := range map[string]func(*Case){
			"a question that must be asked": func(c *Case) { c.MustAsk = true },
			"guard.clients":                 func(c *Case) { c.Clients = true },
			"no grant":                      func(c *Case) { c.Granted = false },
			"nobody there":                  func(c *Case) { c.Surface = Nobody },
			"a lower threshold":             func(c *Case) { c.Threshold = tool.RiskMedium },
		} {
			harder := c
			if more(&harder); strictness(harder) < strictness(c) {
				fail(change + " is less strict")
			}
		}
		watched, alone := c, c
		if watched.Guardian, alone.Guardian = monitor, off; Decide(watched) != Decide(alone) {
			fail("a guardian that only watches changes something")
		}
	})
	for name, table := range tables() {
		for row, cells := range table.cells {
			for origin := range cells {
				if rule := name + "." + row + "." + string(origin); !visited[rule] {
					t.Errorf("no case comes to %s", rule)
				}
			}
		}
	}
}

// TestUnknown: a case with an unknown value in one of its fields is refused.
func TestUnknown(t *testing.T) {
	t.Parallel()
	known := Case{Origin: tool.Chat, Risk: tool.RiskNone, Surface: Person, Granted: true}
	if d := Decide(known); d.Outcome != Run {
		t.Fatalf("a call that reads: %+v", d)
	}
	for name, change := range map[string]func(*Case){
		"origin": func(c *Case) { c.Origin = "robot" }, "no origin": func(c *Case) { c.Origin = "" },
		"risk": func(c *Case) { c.Risk = "tiny" }, "no risk": func(c *Case) { c.Risk = tool.RiskUnknown },
		"mode": func(c *Case) { c.Guardian = "strict" }, "verdict": func(c *Case) { c.Verdict = "fine" },
		"threshold": func(c *Case) { c.Guardian, c.Verdict, c.Threshold = Enforce, tool.RiskNone, tool.RiskNone },
	} {
		c := known
		change(&c)
		if d := Decide(c); d.Outcome != Deny {
			t.Errorf("an unknown %s: %+v", name, d)
		}
	}
	c := Case{Origin: tool.Chat, Risk: tool.RiskHigh, Surface: "telepathy"}
	if d := Decide(c); d.Outcome != Deny {
		t.Errorf("an unknown surface: %+v", d)
	}
}

// TestParse: the error about a table that cannot be parsed names the line.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"risk direct":                                       "line 1",
		"table a\nrisk direct chat\nnone run":               "line 3",
		"table a\nrisk direct\nnone maybe":                  `"maybe"`,
		"table a\nrisk direct\nnone run\nlow ask\nnone run": "line 5",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %s", text, err, want)
		}
	}
}

// TestPage: docs/reference/decisions.md is up to date with the table.
func TestPage(t *testing.T) {
	t.Parallel()
	const path = "../../../../docs/reference/decisions.md"
	want := page(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go generate ./internal/pipeline/gate/decision writes it", err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("%s is old, go generate ./internal/pipeline/gate/decision writes it (-want +got):\n%s", path, d)
	}
}

const pageHead = `# What becomes of a call

Written from ` + "`internal/pipeline/gate/decision/table.txt`" + `, the table that Collie decides by. What the fixed rules refuse
([guide](../guide/guard.md)) never gets here.

A row is how much harm a call can do: what our own actions declare, what the name, the description and the hints of a foreign tool
suggest, or what a rule has found out about this one call. A column is who asks for it.

- run: it runs.
- ask: a person is asked. Where nobody can be asked, it is refused at once.
- grant: it runs if a grant covers it; nobody is asked.
- deny: it is refused.

Three things stand above the tables. Actions that say they are dangerous, and what a rule wants asked about, are asked about also
where the table says run. A grant lets run what would be asked about, but nothing critical. What is not known, such as a new
origin, is refused.
`

// page returns the text of docs/reference/decisions.md for the table.
func page(t *testing.T) string {
	t.Helper()
	all, err := parse(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(pageHead)
	for _, table := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| risk |", table.name, table.about)
		for _, o := range table.origins {
			fmt.Fprintf(&b, " %s |", o)
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(table.origins)) + "\n")
		for _, row := range table.rows {
			fmt.Fprintf(&b, "| %s |", row)
			for _, o := range table.origins {
				fmt.Fprintf(&b, " %s |", table.cells[row][o])
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
