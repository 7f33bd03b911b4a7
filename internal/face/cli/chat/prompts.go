package chat

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// This file offers the prompts and resources of MCP servers in the chat, as /SERVER:PROMPT and @URI.

// prompt is a prompt of a server, in the form of the API.
type prompt struct {
	Name        string // SERVER:PROMPT
	Title       string
	Description string
	Arguments   []struct {
		Name     string
		Required bool
	}
}

// resource is a resource of a server, in the form of MCP.
type resource struct{ URI, Name, Title string }

// offered lists the prompts and resources of all servers. It leaves out those that are unavailable.
func (k *talk) offered(ctx context.Context) ([]prompt, []resource) {
	var prompts struct{ Prompts []prompt }
	var resources struct{ Resources []resource }
	_ = k.api.Do(ctx, http.MethodGet, "/prompts", nil, &prompts) // if it fails, there are no completions
	_ = k.api.Do(ctx, http.MethodGet, "/lists/resources", nil, &resources)
	return prompts.Prompts, resources.Resources
}

func (k *talk) knownPrompts() []prompt {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.prompts
}

func (k *talk) knownResources() []resource {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.resources
}

// promptNames returns completions for /SERVER:PROMPT. Prompts appear only after a part of the server's name, so that
// they do not crowd out the commands.
func (k *talk) promptNames(word string) (list []suggestion) {
	for _, p := range k.knownPrompts() {
		name := "/" + p.Name
		if strings.HasPrefix(name, word) && len(word) > 1 {
			list = append(list, suggestion{text: name + " ", about: output.OneLine(p.Description)})
		}
	}
	return list
}

// resourceNames returns completions for @URI: resources whose URI or name begins with word.
func (k *talk) resourceNames(word string) (list []suggestion) {
	typed := word[1:]
	for _, r := range k.knownResources() {
		if typed == "" || strings.ContainsAny(r.URI, " \"\n") {
			continue
		}
		if strings.HasPrefix(r.URI, typed) || strings.HasPrefix(r.Name, typed) {
			list = append(list, suggestion{text: "@" + r.URI + " ", about: output.OneLine(r.Name)})
		}
	}
	return list
}

// promptNamed finds a prompt by name.
func (k *talk) promptNamed(name string) (p prompt, found bool) {
	for _, p := range k.knownPrompts() {
		if p.Name == name {
			return p, true
		}
	}
	return p, false
}

// prompt runs a line /SERVER:PROMPT with arguments: the server fills in the prompt, which becomes the next message.
func (k *talk) prompt(ctx context.Context, line string) (outcome, error) {
	name, rest, _ := strings.Cut(line, " ")
	k.learnAllOnce(ctx)
	p, found := k.promptNamed(name[1:])
	if !found {
		var names []string
		for _, p := range k.knownPrompts() {
			names = append(names, p.Name)
		}
		return outcome{}, &tool.Error{
			Kind: tool.NotFound, Subject: name[1:], Message: "no server has that prompt", Hint: "there are: " + strings.Join(names, ", "),
		}
	}
	m, err := k.fillIn(ctx, p, quotedWords(rest))
	return outcome{send: &m}, err
}

// quotedWords splits a text at spaces outside of double quotes.
func quotedWords(text string) (words []string) {
	var word strings.Builder
	quoted, begun := false, false
	for _, r := range text {
		switch {
		case r == '"':
			quoted, begun = !quoted, true
		case r == ' ' && !quoted:
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// argumentNames returns completions for the arguments of a prompt that are still missing.
func (p *prompt) argumentNames(words []string, word string) (list []suggestion) {
	for _, a := range p.Arguments {
		name := a.Name + "="
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, name) }) || !strings.HasPrefix(name, word) {
			continue
		}
		list = append(list, suggestion{text: name})
	}
	return list
}

// usage describes how to type a prompt with its arguments.
func (p *prompt) usage() string {
	words := []string{"/" + p.Name}
	for _, a := range p.Arguments {
		word := a.Name + "=…"
		if !a.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// arguments parses NAME=VALUE pairs, and plain values for the arguments in order.
func (p *prompt) arguments(words []string) (map[string]string, error) {
	args := map[string]string{}
	var rest []string
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if ok && p.takes(name) {
			args[name] = value
			continue
		}
		rest = append(rest, w)
	}
	for _, a := range p.Arguments {
		if _, given := args[a.Name]; !given && len(rest) > 0 {
			args[a.Name], rest = rest[0], rest[1:]
		}
		if _, given := args[a.Name]; !given && a.Required {
			return nil, root.Usage("%s is missing: %s", a.Name, p.usage())
		}
	}
	if len(rest) > 0 {
		return nil, root.Usage("%q is too much: %s", strings.Join(rest, " "), p.usage())
	}
	return args, nil
}

func (p *prompt) takes(name string) bool {
	for _, a := range p.Arguments {
		if a.Name == name {
			return true
		}
	}
	return false
}

// fillIn has a server fill in a prompt, and returns the message. The server's text is untrusted, so it is attached like
// a file, which is screened before a model reads it.
func (k *talk) fillIn(ctx context.Context, p prompt, words []string) (message, error) {
	args, err := p.arguments(words)
	if err != nil {
		return message{}, err
	}
	var result json.RawMessage
	if err := k.api.Do(ctx, http.MethodPost, "/prompts", map[string]any{"name": p.Name, "args": args}, &result); err != nil {
		return message{}, err
	}
	session, err := k.ensureSession(ctx)
	if err != nil {
		return message{}, err
	}
	m := k.compose(locale.Sprintf("Do what the prompt %s says, which is attached.", strings.TrimSpace(p.Name+" "+strings.Join(words, " "))))
	var text strings.Builder
	for _, said := range gjson.GetBytes(result, "messages").Array() {
		if role := said.Get("role").String(); role != "user" {
			fmt.Fprintf(&text, "%s:\n", role)
		}
		c := said.Get("content")
		if c.Get("type").String() == "image" {
			picture, err := k.attachData(ctx, session, p.Name+" picture", c.Get("data").String())
			if err != nil {
				return message{}, err
			}
			m.files = append(m.files, picture)
			continue
		}
		fmt.Fprintf(&text, "%s\n\n", c.Get("text").String()+c.Get("resource.text").String())
	}
	if text.Len() == 0 && len(m.files) == 0 {
		return message{}, root.Usage("the prompt %s is empty", p.Name)
	}
	if text.Len() > 0 {
		file, err := k.api.Attach(ctx, session, strings.ReplaceAll(p.Name, "/", "_")+".md", strings.NewReader(text.String()))
		if err != nil {
			return message{}, err
		}
		m.files = append(m.files, file)
	}
	return m, nil
}

// isResource reports whether a name in a text is the URI of a resource: a listed one, or any other with a scheme,
// because servers may have unlisted resources.
func (k *talk) isResource(ctx context.Context, name string) bool {
	scheme, _, ok := strings.Cut(name, ":")
	if !ok || len(scheme) < 2 || strings.ContainsAny(scheme, "/.") { // one letter is a drive
		return false
	}
	k.learnAllOnce(ctx)
	return strings.Contains(name, "://") || slices.ContainsFunc(k.knownResources(), func(r resource) bool { return r.URI == name })
}

// attachResource reads a resource and uploads it as an attachment.
func (k *talk) attachResource(ctx context.Context, session, uri string) (conversation.File, error) {
	var result json.RawMessage
	if err := k.api.Do(ctx, http.MethodPost, "/resources", map[string]string{"uri": uri}, &result); err != nil {
		return nil, err
	}
	contents := gjson.GetBytes(result, "contents").Array()
	if len(contents) == 0 {
		return nil, root.Usage("the resource %s is empty", uri)
	}
	if blob := contents[0].Get("blob"); blob.Exists() {
		return k.attachData(ctx, session, nameOf(uri), blob.String())
	}
	var text strings.Builder
	for _, c := range contents {
		text.WriteString(c.Get("text").String() + "\n")
	}
	return k.api.Attach(ctx, session, nameOf(uri), strings.NewReader(text.String()))
}

// attachData uploads data in Base64 as an attachment.
func (k *talk) attachData(ctx context.Context, session, name, data string) (conversation.File, error) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, err
	}
	return k.api.Attach(ctx, session, name, bytes.NewReader(raw))
}

// nameOf returns a file name for a resource that is attached.
func nameOf(uri string) string {
	if u, err := url.Parse(uri); err == nil {
		if name := path.Base(u.Path); name != "." && name != "/" {
			return name
		}
	}
	return strings.NewReplacer("/", "_", ":", "_").Replace(uri)
}
