// Fakellm is a provider of language models that follows a script, for tests of programs that use models. It
// speaks the APIs of Anthropic, OpenAI (Responses and Chat Completions), Gemini and Ollama.
//
//	go run ./test/fakellm -addr 127.0.0.1:8099 -script script.json -record requests.jsonl
//
//	{"conversations": [{"turns": [
//	  {"call": [{"tool": "fs", "args": {"action": "ls"}}]},
//	  {"say": "You have two notebooks."}
//	]}]}
//
// Package provider documents scripts. The program writes its address to stdout once it listens. It writes
// each request with its answer to the -record file, as a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"collie/test/fakellm/provider"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fakellm:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("fakellm", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "listen here")
	script := flags.String("script", "", "do what this `file` says")
	record := flags.String("record", "", "add each request to this `file`")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	}
	data, err := os.ReadFile(*script)
	if err != nil {
		return fmt.Errorf("-script: %w", err)
	}
	parsed, err := provider.ParseScript(data)
	if err != nil {
		return fmt.Errorf("%s: %w", *script, err)
	}
	var opts provider.Options
	if *record != "" {
		f, err := os.OpenFile(*record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("-record: %w", err)
		}
		defer func() { _ = f.Close() }()
		lines := json.NewEncoder(f)
		opts.Record = func(r provider.Request) { _ = lines.Encode(r) }
	}
	fake, err := provider.New(parsed, opts)
	if err != nil {
		return err
	}
	return serve(ctx, *addr, fake, stdout)
}

// serve listens on addr, prints the address, and serves until ctx ends.
func serve(ctx context.Context, addr string, handler http.Handler, stdout io.Writer) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	unhook := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer unhook()
	if _, err := fmt.Fprintf(stdout, "http://%s\n", l.Addr()); err != nil {
		return err
	}
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
