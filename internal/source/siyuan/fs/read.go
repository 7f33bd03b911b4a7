package fs

import (
	"context"
	"errors"
	"strings"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action fs.read, and the virtual files: the memory of the agent and the rules of the person.

type readArgs struct {
	Path string `json:"path" about:"document" req:"true"`
	content.WindowOptions
}

type readResult struct {
	Path string `json:"path" about:"path of the document"`
	content.Window
}

// read returns the action read of the tool fs.
func read() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "read", Purpose: "Read a document as Markdown", Common: true, Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Guide: "Long documents come in windows of whole blocks: go on with the arguments in nextWindow. " +
			"outline shows all headings with the block to start at.",
		Needs: []action.Need{action.OnPath(access.Read, "path", action.PathVirtual)},
		Endpoints: []string{
			"notebook/lsNotebooks", "filetree/getIDsByHPath", "block/getChildBlocks", "block/getBlockKramdowns", "block/getBlockKramdown", "query/sql",
		},
		Positional: []string{"path"},
		Result:     readResult{},
		Example:    `{"path":"/Work notes/Plan"}`,
	}, func(ctx context.Context, r *action.Request, a readArgs) (any, error) {
		targets := r.Targets("path")
		if len(targets) == 0 {
			path, text := virtualFile(r, a.Path)
			return readResult{path, content.TextWindow(text, a.WindowOptions)}, nil
		}
		w, err := content.ReadWindow(ctx, r, targets[0].ID, a.WindowOptions)
		if err != nil {
			return nil, err
		}
		if w.StateHash == "" && r.Meta.Verbose {
			if w.StateHash, err = content.DocumentHash(ctx, r.Kernel, targets[0].ID); err != nil {
				return nil, err
			}
		}
		return readResult{callerPath(ctx, r, targets[0]), w}, nil
	})
}

// maxMemory bounds the agent's memory in bytes, because it is stored in a file that is read often.
const maxMemory = 64 << 10

func virtualItems() []lsItem {
	var out []lsItem
	for _, path := range [...]string{action.AgentsFile, action.UserRulesFile} {
		out = append(out, lsItem{Name: strings.TrimPrefix(path, "/"), Path: path, Virtual: true})
	}
	return out
}

// virtualFile returns the virtual file that an argument names, with its text.
func virtualFile(r *action.Request, arg string) (path, text string) {
	path, err := action.NormalizePath(arg)
	if err != nil {
		return arg, "" // the Need excludes this
	}
	if path == action.AgentsFile {
		return path, r.Config.Memory
	}
	return path, r.Config.UserRules
}

// checkWritable returns an error for virtual files that agents may not change.
func checkWritable(path string) error {
	if path == action.AgentsFile {
		return nil
	}
	return &tool.Error{
		Op: "write", Kind: tool.Denied, Subject: path, Message: "the user's rules are for reading only",
		Hint: "what you want to remember belongs in " + action.AgentsFile,
	}
}

// errSameMemory ends a change of the memory that would write what is there.
var errSameMemory = errors.New("the memory stays as it is")

// changeMemory changes the agent's memory in the tool config. change makes the new text of the one that is stored: what
// the call knows may be older, and what others have written since must not be lost.
func changeMemory(ctx context.Context, r *action.Request, change func(old string) (string, error)) error {
	var text string
	config, err := r.Workspace.EditConfig(ctx, func(raw map[string]any) error {
		old, _ := raw["agentSiyuanMemoryText"].(string)
		var err error
		switch text, err = change(old); {
		case err != nil:
			return err
		case len(text) > maxMemory:
			return r.Invalid("markdown", "is longer than 64 KiB, the most that "+action.AgentsFile+" holds")
		case text == old:
			return errSameMemory
		}
		raw["agentSiyuanMemoryText"] = text
		raw["agentSiyuanMemoryUpdatedAt"] = ""
		if text != "" {
			raw["agentSiyuanMemoryUpdatedAt"] = time.Now().UTC().Format(time.RFC3339)
		}
		return nil
	})
	if errors.Is(err, errSameMemory) {
		return nil
	}
	if err == nil && config.Memory != text {
		return &tool.Error{
			Op: "write", Kind: kernel.Mismatch, Subject: action.AgentsFile, Message: "the memory was written and reads otherwise",
			Hint: `fs(action="read", path="` + action.AgentsFile + `") shows what is there`,
		}
	}
	return err
}
