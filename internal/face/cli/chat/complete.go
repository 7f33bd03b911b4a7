package chat

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/face/cli/output"
	"collie/internal/tool"
)

// learnt returns once the tools of all servers have been learnt.
func (k *talk) learnt(ctx context.Context) {
	k.mu.Lock()
	all := k.learntAll
	k.mu.Unlock()
	if !all {
		k.learnTools(ctx, true)
	}
}

// learnTools finds out which tools, actions, prompts and resources can be completed. If all is set, it waits until every server has started or
// failed.
func (k *talk) learnTools(ctx context.Context, all bool) {
	var got struct{ Tools []tool.Tool }
	wait := ""
	if all {
		wait = "?await=*"
	}
	if k.api.Do(ctx, http.MethodGet, "/tools"+wait, nil, &got) != nil {
		return // nothing is completed then
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

// learnOffered finds out anew which prompts and resources can be completed.
func (k *talk) learnOffered(ctx context.Context) {
	prompts, resources := k.offered(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.prompts, k.resources = prompts, resources
}

// namesOffer reports whether the last word of a text looks like /SERVER:PROMPT or @URI.
func namesOffer(text string) bool {
	begin := strings.LastIndexAny(text, " \n") + 1
	word := text[begin:]
	return begin == 0 && strings.HasPrefix(word, "/") && strings.Contains(word, ":") || strings.HasPrefix(word, "@")
}

// knownTools returns the actions of tools; nobody changes them.
func (k *talk) knownTools() map[string][]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tools
}

// suggestion is what a word may become.
type suggestion struct{ text, about string }

const maxSuggested = 6

// suggest returns what the last word of a text may become: the name of a command or a tool, an action, or a file. begin
// is where the word begins.
func (k *talk) suggest(text string) (begin int, list []suggestion) {
	begin = strings.LastIndexAny(text, " \n") + 1
	word := text[begin:]
	switch {
	case strings.HasPrefix(word, "@"):
		return begin, append(k.resourceNames(word), k.files(word)...)
	case begin == 0 && strings.HasPrefix(word, "/"):
		return begin, k.names(word)
	case strings.HasPrefix(text, "/") && strings.Contains(strings.Fields(text)[0], ":"):
		name, rest, typing := strings.Cut(text, " ")
		if p, ok := k.promptNamed(name[1:]); ok && typing {
			return begin, p.argumentNames(quotedWords(rest), word)
		}
	case strings.HasPrefix(text, "/") && strings.Count(text, " ") == 1:
		for _, action := range k.knownTools()[strings.TrimSpace(text[1:begin])] {
			if strings.HasPrefix(action, word) {
				list = append(list, suggestion{action + " ", ""})
			}
		}
	}
	return begin, list
}

func (k *talk) names(word string) (list []suggestion) {
	for _, c := range commands() {
		if strings.HasPrefix(c.name, word) {
			list = append(list, suggestion{c.name + " ", c.about})
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
		list = append(list, suggestion{"/" + name + " ", ""})
	}
	return append(list, k.promptNames(word)...)
}

// files lists what @PATH may become.
func (k *talk) files(word string) (list []suggestion) {
	typed := word[1:]
	dir, prefix := filepath.Split(typed)
	entries, err := os.ReadDir(k.path(filepath.Join(dir, ".")))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(name, ".") && prefix == "" || strings.ContainsAny(name, " \"\n") {
			continue
		}
		end := " "
		if e.IsDir() {
			end = "/"
		}
		list = append(list, suggestion{"@" + dir + name + end, ""})
		if len(list) > 100 {
			break
		}
	}
	return list
}

// completed returns text with its last word continued as far as the suggestions agree.
func completed(text string, begin int, list []suggestion) string {
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

// suggestionLines are the lines below the place to type.
func suggestionLines(list []suggestion, width int) (lines []string) {
	for i, s := range list {
		if i == maxSuggested {
			return append(lines, "  …")
		}
		lines = append(lines, output.Truncate("  "+strings.TrimSpace(s.text)+"  "+s.about, width))
	}
	return lines
}
