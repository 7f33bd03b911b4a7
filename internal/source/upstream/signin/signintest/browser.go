package signintest

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Visit opens an address as a browser does and returns where the authorization server sends the browser: the address
// of the callback with the answer in it.
func (p *Provider) Visit(ctx context.Context, address string) (string, error) {
	client := &http.Client{
		Transport:     p.Client().Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, _, err := fetchPage(ctx, client, address)
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusFound {
		return "", fmt.Errorf("the authorization server shows a page with status %d", resp.StatusCode)
	}
	return resp.Header.Get("Location"), nil
}

// Follow opens the address of a callback and returns what the page shows.
func (p *Provider) Follow(ctx context.Context, callback string) (string, error) {
	_, page, err := fetchPage(ctx, p.Client(), callback)
	return page, err
}

// Browser returns a function that opens an address, agrees, and returns to the callback, in the background. pages
// gets what the callback shows, if it has room.
func (p *Provider) Browser(pages chan<- string) func(context.Context, string) error {
	return func(ctx context.Context, address string) error {
		callback, err := p.Visit(ctx, address)
		if err != nil {
			return err
		}
		go func() { // ends with the answer
			page, err := p.Follow(context.WithoutCancel(ctx), callback)
			if err != nil {
				page = err.Error()
			}
			select {
			case pages <- page:
			default:
			}
		}()
		return nil
	}
}

func fetchPage(ctx context.Context, client *http.Client, address string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp, string(raw), err
}
