package tool

import "context"

type actingKey struct{}

// ActingThrough returns a context for what a person does through one of our own programs, such as "collie pages".
func ActingThrough(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, actingKey{}, client)
}

// ActingProgram returns the program through which a person acts; "collie", the command line, unless a context says another.
func ActingProgram(ctx context.Context) string {
	if client, ok := ctx.Value(actingKey{}).(string); ok {
		return client
	}
	return "collie"
}

// PagesClient names the program through which a person acts in the pages in the browser.
const PagesClient = "collie pages"
