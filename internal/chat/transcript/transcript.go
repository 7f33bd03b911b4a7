// Package transcript converts conversations exported by ChatGPT, LibreChat and Open WebUI to documents that
// [collie/internal/chat.Service.Import] accepts, with all branches. It reports what it cannot convert.
//
// The entry point is [Read].
package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/llm"
)

// Conversation is one converted conversation.
type Conversation struct {
	Title    string
	Messages int
	Document json.RawMessage // in the format of chat.Service.Export
	Left     []string        // what could not be converted
}

// Limits of what is converted.
const (
	maxConversations = 20_000
	maxMessages      = 100_000 // of one conversation
	maxText          = 1 << 20 // bytes of one message
	maxTitle         = 200     // bytes
)

// errUnknown is the error for a file in no known format.
var errUnknown = errors.New("it is not an export of ChatGPT, LibreChat or Open WebUI")

// Read converts an export with one or many conversations, and returns which program wrote it. A conversation with
// nothing usable is left out and mentioned in notes.
func Read(data []byte) (program string, all []Conversation, notes []string, err error) {
	if !json.Valid(data) {
		return "", nil, nil, errUnknown
	}
	root := gjson.ParseBytes(data)
	list := []gjson.Result{root}
	if root.IsArray() {
		list = root.Array()
	}
	for i, c := range list {
		name, read := kindOf(c)
		switch {
		case name == "" || program != "" && name != program:
			notes = append(notes, fmt.Sprintf("number %d is not a conversation", i+1))
			continue
		case len(all) == maxConversations:
			return program, all, append(notes, fmt.Sprintf("all behind the first %d conversations", maxConversations)), nil
		}
		program = name
		t := tree{title: c.Get("title").String(), created: firstTime(c.Get("create_time"), c.Get("created_at"), c.Get("createdAt"))}
		read(c, &t)
		if one, ok := t.document(); ok {
			all = append(all, one)
		} else {
			notes = append(notes, fmt.Sprintf("number %d (%s) has no messages", i+1, one.Title))
		}
	}
	if program == "" {
		return "", nil, nil, errUnknown
	}
	return program, all, notes, nil
}

// kindOf returns the program that wrote a conversation and the function that reads it, or "" if it is not one.
func kindOf(c gjson.Result) (string, func(gjson.Result, *tree)) {
	switch {
	case c.Get("mapping").IsObject():
		return "ChatGPT", readChatGPT
	case c.Get("chat.history.messages").IsObject():
		return "Open WebUI", readOpenWebUI
	case c.Get("messages").IsArray() && c.Get("conversationId").Exists():
		return "LibreChat", readLibreChat
	}
	return "", nil
}

// node is a message being converted. One without a role only links others.
type node struct {
	id, parent, text, model string
	role                    chat.Role
	created                 time.Time
}

// tree collects the messages of a conversation.
type tree struct {
	title   string
	created time.Time
	current string // the last message of the active path
	nodes   []node
	skipped map[string]int // how often something could not be converted, by what it is
}

// skip counts something that cannot be converted.
func (t *tree) skip(what string) {
	if t.skipped == nil {
		t.skipped = map[string]int{}
	}
	t.skipped[what]++
}

// add appends a node. Too long a text is cut, and a node without text loses its role.
func (t *tree) add(n node) {
	switch {
	case len(t.nodes) == maxMessages:
		t.skip(fmt.Sprintf("messages behind the first %d", maxMessages))
		return
	case len(n.text) > maxText:
		n.text = n.text[:maxText]
		t.skip("the end of a message that is too long")
	}
	n.text = strings.ReplaceAll(strings.ToValidUTF8(n.text, "\uFFFD"), "\x00", "\uFFFD")
	if strings.TrimSpace(n.text) == "" && n.role != "" {
		n.role = ""
		t.skip("a message without text")
	}
	t.nodes = append(t.nodes, n)
}

// readChatGPT reads a conversation of ChatGPT, whose messages are a map from ids to messages with a parent.
func readChatGPT(c gjson.Result, t *tree) {
	t.current = c.Get("current_node").String()
	c.Get("mapping").ForEach(func(key, v gjson.Result) bool {
		m := v.Get("message")
		n := node{id: key.String(), parent: v.Get("parent").String(), created: firstTime(m.Get("create_time")), model: m.Get("metadata.model_slug").String()}
		role := m.Get("author.role").String()
		switch {
		case !m.IsObject() || m.Get("metadata.is_visually_hidden_from_conversation").Bool():
		case role == "user" || role == "assistant":
			n.role = chat.Role(role)
			n.text = t.chatGPTText(m.Get("content"))
		case role == "system" && m.Get("content.parts.0").String() == "":
		default:
			t.skip("a message of role " + quoteShort(role))
		}
		t.add(n)
		return true
	})
}

// chatGPTText returns the text of a ChatGPT message.
func (t *tree) chatGPTText(c gjson.Result) string {
	var parts []string
	for _, p := range c.Get("parts").Array() {
		switch {
		case p.Type == gjson.String:
			parts = append(parts, p.String())
		case p.Get("text").Type == gjson.String:
			parts = append(parts, p.Get("text").String())
		default:
			t.skip("a picture or file")
		}
	}
	if text := c.Get("text"); len(parts) == 0 && text.Type == gjson.String {
		parts = append(parts, text.String())
	}
	return strings.TrimSpace(strings.Join(parts, "\n\n"))
}

// readOpenWebUI reads a conversation of Open WebUI, whose messages are a map from ids to messages with a parentId.
func readOpenWebUI(c gjson.Result, t *tree) {
	t.title = cmp.Or(t.title, c.Get("chat.title").String())
	t.current = c.Get("chat.history.currentId").String()
	c.Get("chat.history.messages").ForEach(func(key, m gjson.Result) bool {
		n := node{id: key.String(), parent: m.Get("parentId").String(), created: firstTime(m.Get("timestamp")), model: m.Get("model").String(), text: textOf(m.Get("content"))}
		t.setRole(&n, m.Get("role").String())
		for range m.Get("files").Array() {
			t.skip("a picture or file")
		}
		t.add(n)
		return true
	})
}

// libreMessage is a message of LibreChat. It is decoded with all its children at once, because searching each level of a
// deeply nested conversation for the next one would take quadratic time.
type libreMessage struct {
	MessageID       json.RawMessage
	ParentMessageID json.RawMessage
	CreatedAt       json.RawMessage
	Model           json.RawMessage
	Text            json.RawMessage
	Content         json.RawMessage
	IsCreatedByUser json.RawMessage
	Files           json.RawMessage
	Children        []libreMessage
}

// readLibreChat reads a conversation of LibreChat, whose messages are a list.
func readLibreChat(c gjson.Result, t *tree) {
	var all struct{ Messages []libreMessage }
	if err := json.Unmarshal([]byte(c.Raw), &all); err != nil {
		if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); !wrong { // after a wrong type, json has still read the rest
			t.skip("all of it: " + err.Error())
			return
		}
		t.skip("what is not a message")
	}
	// Children are nested in their parents in one form of the export, and listed flat in the other.
	type below struct {
		list   []libreMessage
		parent string
	}
	for work := []below{{all.Messages, ""}}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for i := range at.list {
			m := &at.list[i]
			n := node{
				id: gjson.ParseBytes(m.MessageID).String(), parent: cmp.Or(at.parent, gjson.ParseBytes(m.ParentMessageID).String()),
				created: firstTime(gjson.ParseBytes(m.CreatedAt)), model: gjson.ParseBytes(m.Model).String(),
			}
			if n.id == "" {
				n.id = "unnamed " + strconv.Itoa(len(t.nodes)) + " " + strconv.Itoa(i)
			}
			n.text = cmp.Or(textOf(gjson.ParseBytes(m.Text)), textOf(gjson.ParseBytes(m.Content)))
			role := "assistant"
			if gjson.ParseBytes(m.IsCreatedByUser).Bool() {
				role = "user"
			}
			t.setRole(&n, role)
			for range gjson.ParseBytes(m.Files).Array() {
				t.skip("a picture or file")
			}
			t.add(n)
			if len(m.Children) > 0 {
				work = append(work, below{m.Children, n.id})
			}
		}
	}
}

// setRole sets the role of n, unless it is one that sessions do not have.
func (t *tree) setRole(n *node, role string) {
	if role == "user" || role == "assistant" {
		n.role = chat.Role(role)
		return
	}
	t.skip("a message of role " + quoteShort(role))
}

// textOf returns a string value, or the texts of a list of parts.
func textOf(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.String()
	}
	var parts []string
	for _, p := range v.Array() {
		if s := p.Get("text"); s.Type == gjson.String {
			parts = append(parts, s.String())
		} else if s = p.Get("text.value"); s.Type == gjson.String {
			parts = append(parts, s.String())
		}
	}
	return strings.Join(parts, "\n\n")
}

func quoteShort(s string) string {
	if len(s) > 40 {
		s = s[:40]
	}
	return strconv.Quote(strings.ToValidUTF8(s, "?"))
}

// firstTime returns the first value that is a time, else the zero time. A number from 1e11 on counts as milliseconds since 1970,
// a smaller one as seconds, and a text is RFC 3339.
func firstTime(values ...gjson.Result) time.Time {
	for _, v := range values {
		switch {
		case v.Type == gjson.Number && v.Num > 1e11 && v.Num < 1e14:
			return time.UnixMilli(int64(v.Num)).UTC()
		case v.Type == gjson.Number && v.Num > 0 && v.Num < 1e11:
			return time.UnixMilli(int64(v.Num * 1000)).UTC()
		case v.Type == gjson.String:
			if at, err := time.Parse(time.RFC3339, v.String()); err == nil && at.Year() > 1970 && at.Year() < 5000 {
				return at.UTC()
			}
		}
	}
	return time.Time{}
}

// message is a message of the resulting document.
type message struct {
	chat.Message
	Selected string `json:"selectedChildId,omitempty"`
}

// document returns the tree as a Conversation, whose Document is what Import reads. ok is false if the tree is empty.
func (t *tree) document() (c Conversation, ok bool) {
	byID, children, roots := t.relate()
	doc, firstShown := t.messages(byID, children, roots)
	c.Title, c.Messages = oneLineTitle(t.title), len(doc)
	for what, n := range t.skipped {
		if n > 1 {
			what += fmt.Sprintf(" (%d times)", n)
		}
		c.Left = append(c.Left, what)
	}
	slices.Sort(c.Left)
	if len(doc) == 0 {
		return c, false
	}
	created := t.created
	if created.IsZero() {
		created = doc[0].Created
	}
	if created.IsZero() {
		created = time.Now().UTC()
	}
	raw, err := json.Marshal(map[string]any{
		"format": "collie.session", "version": 1, "session": chat.Session{Title: c.Title, Created: created, Updated: created},
		"selectedChildId": firstShown, "messages": doc,
	})
	if err != nil {
		t.skip("all of it: " + err.Error())
		return c, false
	}
	c.Document = raw
	return c, true
}

// relate finds out which node is whose child. It returns the nodes by id, the children of each node by its id, and the nodes without a parent, all as indexes
// into t.nodes. It skips nodes whose id is used already.
func (t *tree) relate() (byID map[string]int, children map[string][]int, roots []int) {
	byID, children = map[string]int{}, map[string][]int{}
	for i, n := range t.nodes {
		if _, twice := byID[n.id]; twice {
			t.skip("a message whose id is there twice")
			continue
		}
		byID[n.id] = i
	}
	for i, n := range t.nodes {
		if byID[n.id] != i {
			continue
		}
		if _, known := byID[n.parent]; known && n.parent != "" {
			children[n.parent] = append(children[n.parent], i)
			continue
		}
		if n.parent != "" && n.parent != noParent && n.role != "" {
			t.skip("the place of a message whose parent is missing: it begins a branch")
		}
		roots = append(roots, i)
	}
	return byID, children, roots
}

// messages returns the messages of the document, parents first, and the id of the first message on the active path.
// The children of a node without a role are attached to its parent.
func (t *tree) messages(byID map[string]int, children map[string][]int, roots []int) (doc []message, firstShown string) {
	type step struct {
		node  int
		above int // the parent's index in doc; -1 if there is none
	}
	shown := t.activePath(byID)
	seen := 0
	work := []step{}
	for _, r := range slices.Backward(roots) {
		work = append(work, step{r, -1})
	}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		seen++
		n := &t.nodes[at.node]
		above := at.above
		if n.role != "" {
			m := t.message(n, "m"+strconv.Itoa(len(doc)))
			if above >= 0 {
				m.Parent = doc[above].ID
			}
			if shown[n.id] && above >= 0 {
				doc[above].Selected = m.ID
			} else if shown[n.id] {
				firstShown = m.ID
			}
			above = len(doc)
			doc = append(doc, m)
		}
		for _, child := range slices.Backward(children[n.id]) {
			work = append(work, step{child, above})
		}
	}
	for range len(byID) - seen {
		t.skip("a message that is its own ancestor")
	}
	return doc, firstShown
}

// message returns a node as a message with this id, without its place in the tree.
func (t *tree) message(n *node, id string) message {
	m := message{Message: chat.Message{ID: id, Role: n.role, Status: chat.StatusComplete, Model: n.model, Parts: []llm.Part{{Kind: llm.PartText, Text: n.text}}}}
	if m.Created = n.created; m.Created.IsZero() {
		m.Created = t.created
	}
	m.Updated = m.Created
	return m
}

// noParent is the parent of a first message in LibreChat.
const noParent = "00000000-0000-0000-0000-000000000000"

// activePath returns the ids of the messages on the active path.
func (t *tree) activePath(byID map[string]int) map[string]bool {
	shown := map[string]bool{}
	for id := t.current; id != "" && !shown[id]; {
		i, known := byID[id]
		if !known {
			break
		}
		shown[id] = true
		id = t.nodes[i].parent
	}
	return shown
}

// oneLineTitle returns s as a title of one line.
func oneLineTitle(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
	if len(s) > maxTitle {
		s = strings.ToValidUTF8(s[:maxTitle], "") + "…"
	}
	return strings.TrimSpace(s)
}
