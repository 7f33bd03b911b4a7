package firewall

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"collie/internal/tool"
)

// This file has the entry points: a policy judges a call and returns the strictest verdict.

// Decision is what a rule decides about a call. The strictest decision of all rules counts.
type Decision uint8

// The decisions, from the mildest to the strictest.
const (
	Allow Decision = iota
	Ask            // a person has to agree
	Deny           // it must not run
)

// String returns allow, ask or deny.
func (d Decision) String() string { return [...]string{"allow", "ask", "deny"}[d] }

// Verdict is the decision of one rule, and why.
type Verdict struct {
	Decision Decision
	Rule     string    // name of the rule, such as path.secret; empty if no rule applied
	Reason   string    // a sentence fragment
	At       string    // JSON pointer into the arguments; empty means the call as a whole
	Risk     tool.Risk // risk of the call by this rule; empty means that of its action
}

// Policy is what calls are judged by. It is immutable. The zero Policy has only the built-in rules.
type Policy struct {
	// ReadRoots and WriteRoots are the folders that paths may point into; WriteRoots may be read too. If both are
	// empty, paths may point anywhere that the built-in rules and DenyPaths do not forbid.
	ReadRoots, WriteRoots []string
	// DenyPaths are patterns of forbidden paths: * matches within a component, ** any number of components.
	DenyPaths []string
	// Own are Collie's own folders and files, which no tool may touch.
	Own []string
	// AllowCommands and DenyCommands are prefixes of commands, word by word: "go test".
	AllowCommands, DenyCommands []string
	// AllowHosts are hosts, with or without a port, that may be reached without encryption and in private networks.
	// DenyHosts are never reached. Both may begin with "*.".
	AllowHosts, DenyHosts []string
}

// Files is the file system as rules see it.
type Files struct {
	Home string // home folder of the user
	// Resolve returns an absolute path with all links followed, as far as it exists. Nil follows none.
	Resolve func(path string) string
	// Folds means that the file system ignores case.
	Folds bool
}

// judgement collects the verdicts on one call.
type judgement struct {
	policy        *Policy
	files         *Files
	action        *tool.Action
	server        string
	ratedEffects  tool.Effects // 0 until method effects has asked for them
	worst         Verdict
	best          Verdict         // verdict that the call is less harmful than its action may be
	saysMore      bool            // something else than a command may say what the call does, so best does not count
	steps         *[]Verdict      // all verdicts, to explain the result; nil if they are not needed
	place         []string        // current place in the arguments
	depth         int             // of commands within commands
	memberCount   int             // members of objects judged
	pathCount     int             // paths judged
	commandCount  int             // simple commands judged
	cwds          []string        // absolute folders that members such as cwd name
	judgesCwd     bool            // the path being judged is one of cwds
	codeLanguage  string          // the language of code in the arguments, as far as it is known
	fetchedNames  []string        // names of files and variables that the command fetches from elsewhere
	fetches       bool            // the statement being judged fetches something from elsewhere
	spentSteps    int             // steps of [maxSteps]
	scripts       map[script]int  // judged scripts, with the depth they were judged at
	file          *syntax.File    // the script that is judged
	numbers       numbers         // its variables, once they are needed
	folders       []string        // absolute ones that the command goes to, in which relative paths may lie
	homePath      string          // result of method home; "" until it was called
	secretFolders map[string]bool // results of holdsSecrets by folder
	simpleReads   bool            // the simple command that is judged is one that only reads
	reportCount   int             // verdicts reported, allowing ones excepted
	touched       *touched        // what the call touches; nil if not wanted
}

// Judge returns the strictest verdict on c. If steps is not nil, it appends every verdict. The same policy, call and
// files give the same verdict.
func (p *Policy) Judge(c *tool.Call, files *Files, steps *[]Verdict) Verdict {
	j := judgement{policy: p, files: files, action: c.Action, server: c.Tool, steps: steps}
	if c.Kind != tool.KindCall || c.Action == nil {
		return Verdict{}
	}
	j.judgeDefinition()
	j.judgeArguments(c.Args)
	switch {
	case j.worst.Decision != Allow:
		return j.worst
	case j.saysMore:
		return Verdict{}
	}
	return j.best
}

// effects returns the effects of the action.
func (j *judgement) effects() tool.Effects {
	if j.ratedEffects == 0 {
		_, j.ratedEffects = j.action.Rated()
	}
	return j.ratedEffects
}

// judgeDefinition asks about a tool whose definition has changed since it was accepted.
func (j *judgement) judgeDefinition() {
	if j.action.Changed {
		j.report(Ask, "tool.changed", "the definition of the tool is not the one that was accepted")
	}
}

func (j *judgement) report(d Decision, rule, reason string) {
	risk := tool.RiskUnknown
	switch d {
	case Ask:
		risk = tool.RiskHigh
	case Deny:
		risk = tool.RiskCritical
	case Allow:
	}
	j.reportRisk(d, rule, reason, risk)
}

func (j *judgement) reportRisk(d Decision, rule, reason string, risk tool.Risk) {
	j.reportCount++
	if j.steps == nil && d <= j.worst.Decision {
		return
	}
	v := Verdict{Decision: d, Rule: rule, Reason: reason, At: j.pointer(), Risk: risk}
	if j.steps != nil {
		*j.steps = append(*j.steps, v)
	}
	if d > j.worst.Decision {
		j.worst = v
	}
}

// reportHarmless reports that what an argument asks for is known to do no harm. It does not make the call harmless if
// the tool may ignore the argument.
func (j *judgement) reportHarmless(rule, reason string) {
	v := Verdict{Rule: rule, Reason: reason, At: j.pointer(), Risk: tool.RiskLow}
	if j.steps != nil {
		*j.steps = append(*j.steps, v)
	}
	if j.effects()&^(tool.EffectExecute|tool.EffectRead) == 0 && j.declares("") {
		j.best = v
	}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func (j *judgement) pointer() string {
	var b strings.Builder
	for _, name := range j.place {
		b.WriteByte('/')
		_, _ = pointerEscapes.WriteString(&b, name) // a Builder does not fail
	}
	return b.String()
}

// readsOnly reports whether the action only reads, judging by its risk and its name.
func (j *judgement) readsOnly() bool {
	if j.effects() == tool.EffectRead || j.action.ReadOnly && !j.effects().Has(tool.EffectDelete|tool.EffectExecute) {
		return true
	}
	if j.effects().Has(tool.EffectDelete | tool.EffectExecute) {
		return false
	}
	return operationOf(j.action.Name).onlyReads
}
