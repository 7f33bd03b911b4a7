package vault

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed welcome
var welcomeFiles embed.FS

// welcomeNotebooks are the names of the first notebook by language.
var welcomeNotebooks = map[string]string{"en": "Welcome", "zh": "欢迎"}

// Welcome returns a function for [Options.Fill] that creates a small notebook in a new vault. It shows what one can
// ask, in English or, for "zh", in Chinese.
func Welcome(language string) func(context.Context, http.Handler) error {
	if welcomeNotebooks[language] == "" {
		language = "en"
	}
	return func(ctx context.Context, h http.Handler) error {
		var config struct {
			Notebook struct{ ID string }
		}
		if err := post(ctx, h, "/api/notebook/createNotebook", map[string]any{"name": welcomeNotebooks[language]}, &config); err != nil {
			return err
		}
		pages, err := fs.Glob(welcomeFiles, "welcome/"+language+"/*.md")
		if err != nil {
			return err
		}
		for _, page := range pages { // by name, which begins with their number
			text, err := welcomeFiles.ReadFile(page)
			if err != nil {
				return err
			}
			title, body, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
			err = post(ctx, h, "/api/filetree/createDocWithMd", map[string]any{
				"notebook": config.Notebook.ID, "path": "/" + strings.ReplaceAll(title, "/", " "), "markdown": strings.TrimSpace(body),
			}, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", path.Base(page), err)
			}
		}
		return nil
	}
}

// post calls an endpoint of the vault and decodes the data of the answer into into, unless that is nil.
func post(ctx context.Context, h http.Handler, endpoint string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://vault"+endpoint, bytes.NewReader(data))
	if err != nil {
		return err
	}
	resp, err := Transport{h}.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Code int
		Msg  string
		Data json.RawMessage
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", endpoint, err)
	}
	if answer.Code != 0 {
		return fmt.Errorf("%s: code %d: %s", endpoint, answer.Code, answer.Msg)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.Data, into)
}
