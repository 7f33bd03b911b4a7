package library

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file parses the three kinds of files: agents, context entries and skills.

// add parses text, that of one file of a kind, and adds what it defines to l. It returns the reason if the file cannot be used.
// project says that the file is part of a project, which may not start programs. root and dir, the folder of the file, are kept
// for a skill only, which may have other files there.
func (l *Library) add(kind, name, file, text string, project bool, root, dir string) *Problem {
	switch kind {
	case agentsFolder:
		a, wrong := parseAgent(name, text)
		if wrong != nil {
			return wrong
		}
		if project && len(a.Command)+len(a.Env) > 0 {
			return &Problem{Line: 1, Field: "command", Message: "a project's agent starts no program; write the file in the folder of your settings"}
		}
		a.File, a.Project = file, project
		l.Agents = append(l.Agents, a)
	case entryFolder:
		e, wrong := parseEntry(name, text)
		if wrong != nil {
			return wrong
		}
		e.File, e.Project = file, project
		l.Entries = append(l.Entries, e)
	case skillFolder:
		s, wrong := parseSkill(name, text)
		if wrong != nil {
			return wrong
		}
		s.File, s.Project, s.root, s.dir = file, project, root, dir
		l.Skills = append(l.Skills, s)
	}
	return nil
}

// takeName takes the field name, whose default is the name of the file. A name that is not allowed is a problem.
func (f *fields) takeName(file string) string {
	name := cmp.Or(f.takeText("name", maxText), file)
	if why := checkName(name); why != "" && f.wrong == nil {
		f.wrong = &Problem{Line: 1, Field: "name", Message: why}
		if n := f.values["name"]; n != nil {
			f.wrong.Line = n.Line + 1
		}
	}
	return name
}

// takeDescription takes the field description, by which people and models choose. If it is missing, that is a problem.
func (f *fields) takeDescription() string {
	about := strings.Join(strings.Fields(f.takeText("description", maxAbout)), " ")
	if about == "" && f.wrong == nil {
		f.wrong = &Problem{Line: 1, Field: "description", Message: "it is missing; expected one or two sentences on what this is for"}
	}
	return about
}

func parseAgent(name, text string) (a Agent, wrong *Problem) {
	f, prompt, wrong := readFront(text)
	if wrong != nil {
		return a, wrong
	}
	a = Agent{
		Name: f.takeName(name), Description: f.takeDescription(), Engine: f.takeOneOf("engine", engines), Model: f.takeText("model", maxText),
		Tools: f.takeList("tools"), Deny: f.takeList("denyTools"), Profile: f.takeText("profile", maxText), Level: f.takeOneOf("level", levels),
		Command: f.takeCommand("command"), Env: f.takeList("env"), Prompt: prompt,
	}
	switch wrong := f.firstProblem(); {
	case wrong != nil:
		return a, wrong
	case a.Engine == engineCLI && len(a.Command) == 0:
		return a, &Problem{Line: 1, Field: "command", Message: "it is missing; the engine cli starts one, such as [opencode, acp]"}
	case a.Engine != engineCLI && len(a.Command)+len(a.Env) > 0:
		return a, &Problem{Line: 1, Field: "command", Message: "only an agent with engine: cli starts a program"}
	}
	return a, nil
}

func parseEntry(name, text string) (e Entry, wrong *Problem) {
	f, body, wrong := readFront(text)
	if wrong != nil {
		return e, wrong
	}
	e = Entry{
		Name: f.takeName(name), Keywords: f.takeList("keywords"), Agents: f.takeList("agents"), Order: f.takeNumber("order", -1000, 1000),
		Budget: cmp.Or(f.takeNumber("budget", 1, 16000), defaultBudget), Text: body,
	}
	switch wrong := f.firstProblem(); {
	case wrong != nil:
		return e, wrong
	case len(e.Keywords) == 0:
		return e, &Problem{Line: 1, Field: "keywords", Message: "they are missing; expected a list of words, one of which must occur in the conversation"}
	case e.Text == "":
		return e, &Problem{Line: 1, Message: "there is no text below the front matter"}
	}
	return e, nil
}

// parseSkill ignores unknown fields, because other programs define the format of skills.
func parseSkill(name, text string) (s Skill, wrong *Problem) {
	f, _, wrong := readFront(text)
	if wrong != nil {
		return s, wrong
	}
	s = Skill{Name: f.takeName(name), Description: f.takeDescription()}
	return s, f.wrong
}

// Match is an entry with a keyword that occurs in the conversation.
type Match struct {
	*Entry
	Keyword string
	Back    int // 0 is the last message, 1 the one before it
}

// Matching returns the entries for an agent (empty: no named agent) whose keywords occur in texts. texts are in the
// order of the conversation. A keyword must be a whole word; in scripts without spaces between words, such as Chinese,
// it may stand anywhere.
func (l *Library) Matching(agent string, texts []string) (out []Match) {
	lower := make([]string, len(texts))
	for i := range texts {
		lower[i] = strings.ToLower(texts[i])
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		if len(e.Agents) > 0 && !slices.Contains(e.Agents, agent) {
			continue
		}
		if m, ok := e.matchIn(lower); ok {
			out = append(out, m)
		}
	}
	return out
}

// matchIn returns the match of e in the latest of texts that contains one of its keywords. texts must be in lower case.
func (e *Entry) matchIn(texts []string) (Match, bool) {
	for back := range texts {
		for _, k := range e.Keywords {
			if containsWord(texts[len(texts)-1-back], strings.ToLower(k)) {
				return Match{e, k, back}, true
			}
		}
	}
	return Match{}, false
}

// containsWord reports whether text contains word, as a whole word if its script separates words by spaces.
func containsWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		first, size := utf8.DecodeRuneInString(word)
		last, _ := utf8.DecodeLastRuneInString(word)
		if (!isWordRune(before) || !isWordRune(first)) && (!isWordRune(last) || !isWordRune(after)) {
			return true
		}
		at = start + size
	}
}

// isWordRune reports whether r is a digit or a letter of a script that separates words by spaces.
func isWordRune(r rune) bool {
	return unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) && r != utf8.RuneError
}
