package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// This file adds servers that the MCP registry lists, after asking for the values that they need.

// addFromRegistry adds a server that the registry describes. pinned is its name there, with or without a version.
func (p commands) addFromRegistry(ctx context.Context, pinned string, f *addFlags) error {
	if f.cwd != "" || f.transport != "" {
		return root.Usage("the registry says how %s is run; leave out --cwd and --transport", pinned)
	}
	cfg, wrong, err := p.Settings()
	if err != nil {
		return err
	}
	server, err := serveradmin.FindInRegistry(ctx, cfg, pinned)
	if err != nil {
		return err
	}
	offer, err := serveradmin.MakeOffer(server, f.pack, f.as, serveradmin.ProgramFound(p.Env))
	if err != nil {
		return err
	}
	if slices.Contains(root.ServerNames(cfg), offer.Name) && !f.force {
		return &tool.Error{
			Op: "mcp add", Kind: tool.Exists, Subject: offer.Name, Message: "a server of that name is defined already",
			Hint: "--as NAME adds it under another name, --force replaces that one",
		}
	}
	given, env, headers, err := f.givenInputs(offer)
	if err != nil {
		return err
	}
	p.describeServer(offer)
	if err := p.askInputs(ctx, offer, given); err != nil {
		return err
	}
	hidden, err := offer.Hide(ctx, cfg, given)
	if err != nil {
		return root.SecretError("mcp add", "", err)
	}
	hidden.Env, hidden.Headers = env, headers
	text, err := offer.Entry(hidden)
	if err != nil {
		return err
	}
	servers, err := config.Snippet(commandLine, filepath.Dir(root.SettingsFile(cfg)), text)
	if err != nil {
		return err
	}
	servers[0].Name = offer.Name
	p.showEntry(text, hidden.Secrets)
	if !f.yes {
		if _, err := p.RequireYes(ctx, locale.Sprintf("Add %s to the settings?", offer.Name)); err != nil {
			return err
		}
	}
	if err := hidden.Store(ctx, cfg); err != nil {
		return root.SecretError("mcp add", "", err)
	}
	return p.write(ctx, cfg, wrong, servers, f)
}

// givenInputs returns the values that flags give for the inputs of a server, and the variables and headers that the
// server does not ask for.
func (f *addFlags) givenInputs(o *serveradmin.Offer) (given, env, headers map[string]string, err error) {
	if given, err = parsePairs("--input", f.inputs, "=", "NAME=VALUE"); err != nil {
		return nil, nil, nil, err
	}
	if env, err = parsePairs("--env", f.env, "=", "NAME=VALUE"); err != nil {
		return nil, nil, nil, err
	}
	if headers, err = parsePairs("--header", f.headers, ":", "'Name: value'"); err != nil {
		return nil, nil, nil, err
	}
	switch remote := o.Way.Program() == ""; {
	case remote && f.env != nil:
		return nil, nil, nil, root.Usage("%s is reached at a URL, which takes --header and no --env", o.Server.Name)
	case !remote && f.headers != nil:
		return nil, nil, nil, root.Usage("%s is run by a command, which takes --env and no --header", o.Server.Name)
	}
	out := map[string]string{}
	for _, in := range o.Way.Inputs {
		for _, from := range []map[string]string{env, headers} {
			for name, v := range from {
				if name == in.Key || in.Place == "header" && strings.EqualFold(name, in.Key) {
					out[in.Key] = v
					delete(from, name)
				}
			}
		}
	}
	maps.Copy(out, given)
	return out, env, headers, nil
}

// describeServer prints what the registry says about a server, which is the text of its publisher.
func (p commands) describeServer(o *serveradmin.Offer) {
	s := o.Server
	fmt.Fprintf(p.Err, "%s\n", output.OneLine(strings.TrimSpace(s.Pinned()+"  "+s.Title)))
	for _, line := range []string{s.Description, s.Repository} {
		if line != "" {
			fmt.Fprintf(p.Err, "  %s\n", output.Cut(line))
		}
	}
	if s.Status == "deprecated" {
		p.Warn("its publisher says that it is deprecated")
	}
	if others := slices.DeleteFunc(slices.Clone(s.Found.Ways), func(k serveradmin.RegistryKind) bool { return k == o.Way.Kind }); len(others) > 0 {
		words := make([]string, len(others))
		for i, k := range others {
			words[i] = string(k)
		}
		p.Note("taken as %s; --package takes another: %s", o.Way.Kind, strings.Join(words, ", "))
	}
}

// askInputs asks the person at this terminal for the inputs of the server that given lacks, and adds them to it. Without a
// terminal, it returns an error if a required input is missing.
func (p commands) askInputs(ctx context.Context, o *serveradmin.Offer, given map[string]string) error {
	var missing []string
	for _, in := range o.Way.Inputs {
		if given[in.Key] != "" {
			continue
		}
		needed := in.Required && in.Default == ""
		if !p.CanAsk() {
			if needed {
				missing = append(missing, flagFor(in.Place, in.Key))
			}
			continue
		}
		question := "  " + output.OneLine(in.Key)
		if in.Description != "" {
			question += ", " + output.Cut(in.Description)
		}
		if len(in.Choices) > 0 {
			question += " (" + output.Cut(strings.Join(in.Choices, ", ")) + ")"
		}
		switch {
		case in.Default != "":
			question += " [" + output.Cut(in.Default) + "]"
		case !needed:
			question += locale.Sprintf(" [none]")
		}
		question += ": "
		for given[in.Key] == "" {
			text, err := p.Prompt(ctx, question, in.Secret)
			if err != nil {
				if errors.Is(err, io.EOF) {
					return &tool.Error{Op: "mcp add", Kind: tool.Unconfirmed, Subject: in.Key, Message: "not answered, nothing was changed"}
				}
				return err
			}
			if given[in.Key] = strings.TrimSpace(text); !needed {
				break
			}
		}
	}
	if len(missing) > 0 {
		return root.Usage("%s needs a value, and there is no terminal to ask at: %s", o.Server.Name, strings.Join(missing, " "))
	}
	return nil
}

// flagFor returns the flag that gives an input.
func flagFor(place, key string) string {
	switch place {
	case "env":
		return "--env " + key + "=VALUE"
	case "header":
		return "--header '" + key + ": VALUE'"
	}
	return "--input " + key + "=VALUE"
}

// showEntry shows what an entry would run or reach. A secret is shown as its reference.
func (p commands) showEntry(text json.RawMessage, secrets map[string]string) {
	var e entry
	if json.Unmarshal(text, &e) != nil {
		return // never happens: offer.Entry made the text
	}
	if e.URL != "" {
		locale.Fprintf(p.Err, "reaches: %s\n", output.OneLine(e.URL))
	} else {
		words := []string{output.ShellQuote(e.Command)}
		for _, a := range e.Args {
			words = append(words, output.ShellQuote(a))
		}
		locale.Fprintf(p.Err, "runs: %s\n", output.OneLine(strings.Join(words, " ")))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		fmt.Fprintf(p.Err, "  %s=%s\n", output.OneLine(name), output.OneLine(e.Env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		fmt.Fprintf(p.Err, "  %s: %s\n", output.OneLine(name), output.OneLine(e.Headers[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		locale.Fprintf(p.Err, "keeps the secret %s\n", output.OneLine(name))
	}
}
