package chat

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"collie/internal/face/cli/output"
	"collie/internal/tool"
)

// This file completes commands, tools, files, prompts and resources while a message is being typed.

// learnAllOnce loads what can be completed. It waits until every server has listed its tools or failed, the first time.
func (k *talk) learnAllOnce(ctx context.Context) {
	k.mu.Lock()
	all := k.learntAll
	k.mu.Unlock()
	if !all {
		k.learnTools(ctx, true)
	}
}

// learnTools loads the tools, actions, prompts and resources that can be completed. If all is set, it waits until every
// server has started or failed.
func (k *talk) learnTools(ctx context.Context, all bool) {
	var got struct{ Tools []tool.Tool }
	wait := ""
	if all {
		wait = "?await=*"
	}
	if k.api.Do(ctx, http.MethodGet, "/tools"+wait, nil, &got) != nil {
		return // without them nothing is completed
	}
	known := map[string][]string{}
	for _, t := range got.Tools {
		if t.Off == "" {
			known[t.Name] = nil
			for i := range t.Actions {
				if t.Actions[i].Off == "" {
					known[t.Name] = append(known[t.Name], t.Actions[i].Name)
				}
			}
		}
	}
	prompts, resources := k.offered(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tools, k.prompts, k.resources, k.learntAll = known, prompts, resources, k.learntAll || all
}

// learnOffered reloads the prompts and resources that can be completed.
func (k *talk) learnOffered(ctx context.Context) {
	prompts, resources := k.offered(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.prompts, k.resources = prompts, resources
}

// isTypingOffer reports whether the last word of a text looks like the beginning of /SERVER:PROMPT or @URI.
func isTypingOffer(text string) bool {
	begin := strings.LastIndexAny(text, " \n") + 1
	word := text[begin:]
	return begin == 0 && strings.HasPrefix(word, "/") && strings.Contains(word, ":") || strings.HasPrefix(word, "@")
}

// knownTools returns the known actions by tool. The caller must not change them.
func (k *talk) knownTools() map[string][]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tools
}

// suggestion is a completion of the word that is being typed.
type suggestion struct {
	text, about string
	label       string // shown instead of text, if text means nothing to people
	whole       bool   // the line is complete with it
}

// maxSuggested bounds the suggestions that are shown at once.
const maxSuggested = 6

// suggest returns completions for the last word of a text: commands, tools, actions or files. begin is the offset of
// that word.
func (k *talk) suggest(text string) (begin int, list []suggestion) {
	if what, argument := choiceKind(text); what != "" {
		return len(text) - len(argument), k.suggestChoices(what, argument)
	}
	begin = strings.LastIndexAny(text, " \n") + 1
	word := text[begin:]
	switch {
	case strings.HasPrefix(word, "@"):
		return begin, append(k.resourceNames(word), k.files(word)...)
	case begin == 0 && strings.HasPrefix(word, "/"):
		return begin, k.suggestNames(word)
	case strings.HasPrefix(text, "/") && strings.Contains(strings.Fields(text)[0], ":"):
		name, rest, typing := strings.Cut(text, " ")
		if p, ok := k.promptNamed(name[1:]); ok && typing {
			return begin, p.argumentNames(quotedWords(rest), word)
		}
	case strings.HasPrefix(text, "/") && strings.Count(text, " ") == 1:
		for _, action := range k.knownTools()[strings.TrimSpace(text[1:begin])] {
			if strings.HasPrefix(action, word) {
				list = append(list, suggestion{text: action + " "})
			}
		}
	}
	return begin, list
}

// suggestNames returns completions for a word that begins with /: commands, tools and prompts.
func (k *talk) suggestNames(word string) (list []suggestion) {
	for _, c := range commands() {
		if strings.HasPrefix(c.name, word) {
			list = append(list, suggestion{text: c.name + " ", about: c.about})
		}
	}
	var tools []string
	for name := range k.knownTools() {
		if strings.HasPrefix("/"+name, word) {
			tools = append(tools, name)
		}
	}
	slices.Sort(tools)
	for _, name := range tools {
		list = append(list, suggestion{text: "/" + name + " "})
	}
	return append(list, k.promptNames(word)...)
}

// files returns completions for @PATH: paths that begin with PATH, then files anywhere below the current folder whose
// path contains it.
func (k *talk) files(word string) (list []suggestion) {
	typed := word[1:]
	dir, prefix := filepath.Split(typed)
	entries, err := os.ReadDir(k.path(filepath.Join(dir, ".")))
	if err != nil {
		return nil
	}
	there := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(name, ".") && prefix == "" || strings.ContainsAny(name, "\"\n") ||
			e.IsDir() && strings.Contains(name, " ") { // the rest after a space would be another word
			continue
		}
		list = append(list, fileSuggestion(dir+name, e.IsDir()))
		there[dir+name] = true
		if len(list) > maxFiles {
			break
		}
	}
	if typed == "" || filepath.IsAbs(typed) || strings.HasPrefix(typed, "~") || strings.HasPrefix(typed, ".") {
		return list
	}
	for _, f := range k.filesBelow() {
		if !there[f] && strings.Contains(strings.ToLower(f), strings.ToLower(typed)) {
			if list = append(list, fileSuggestion(f, false)); len(list) > maxFiles {
				break
			}
		}
	}
	return list
}

// fileSuggestion returns the suggestion for a file or folder. A path with spaces is quoted.
func fileSuggestion(path string, folder bool) suggestion {
	switch {
	case folder:
		return suggestion{text: "@" + path + "/"}
	case strings.Contains(path, " "):
		return suggestion{text: `@"` + path + `" `}
	}
	return suggestion{text: "@" + path + " "}
}

// Bounds for listing files.
const (
	maxFiles   = 100                    // suggestions
	maxEntries = 20_000                 // files and folders that below looks at
	maxWalk    = 100 * time.Millisecond // time that below takes
	walkAgain  = 10 * time.Second       // age at which its list is outdated
)

// filesBelow lists files below the current folder, within a short time limit. The list is cached for a while.
func (k *talk) filesBelow() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.walked) < walkAgain {
		return k.walk
	}
	k.walk = nil
	begin, n := time.Now(), 0
	_ = filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error { // unreadable folders are skipped
		n++
		switch {
		case n > maxEntries || time.Since(begin) > maxWalk:
			return fs.SkipAll
		case err != nil:
			return fs.SkipDir
		case path == ".":
			return nil
		case strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules":
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.Type().IsRegular() && !strings.ContainsAny(path, "\"\n"):
			k.walk = append(k.walk, path)
		}
		return nil
	})
	k.walked = time.Now()
	return k.walk
}

// completeWord extends the last word of text by the common prefix of the suggestions.
func completeWord(text string, begin int, list []suggestion) string {
	if len(list) == 0 {
		return text
	}
	common := list[0].text
	for _, s := range list[1:] {
		for !strings.HasPrefix(s.text, common) {
			common = common[:len(common)-1]
		}
	}
	common = strings.ToValidUTF8(common, "")
	if len(common) <= len(text)-begin {
		return text
	}
	return text[:begin] + common
}

// suggestionLines formats suggestions for display below the input; chosen is the index of the selected one, or -1.
func suggestionLines(list []suggestion, chosen, width int) (lines []string) {
	from := max(min(chosen-maxSuggested/2, len(list)-maxSuggested), 0)
	for i, s := range list[from:] {
		if i == maxSuggested {
			return append(lines, fmt.Sprintf("  … %d/%d", max(chosen+1, maxSuggested), len(list)))
		}
		mark := "  "
		if from+i == chosen {
			mark = "› "
		}
		lines = append(lines, output.Truncate(strings.TrimRight(mark+cmp.Or(s.label, strings.TrimSpace(s.text))+"  "+s.about, " "), width))
	}
	return lines
}
