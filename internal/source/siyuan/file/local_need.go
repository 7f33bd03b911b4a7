package file

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
)

// needsSource needs a local file that may be read, so that nobody is asked about one that may not.
func needsSource(param string) action.Need {
	return action.On(access.None, "a file in a folder that a person allowed", param, func(_ context.Context, r *action.Request) ([]action.Target, error) {
		f, _, _, err := openSource(r, param, given(r, param, ""))
		if err != nil {
			return nil, err
		}
		return nil, f.Close()
	})
}

// needsPlace needs a local path that may be written to, if one is given; otherwise stands where
// none is.
func needsPlace(param, otherwise string) action.Need {
	return action.On(access.None, "a place in a folder that a person allowed", param, func(_ context.Context, r *action.Request) ([]action.Target, error) {
		path := given(r, param, otherwise)
		if path == "" {
			return nil, nil
		}
		_, err := localPath(r, path)
		return nil, err
	})
}

// given is the text of an argument, or what stands where there is none.
func given(r *action.Request, param, otherwise string) string {
	for _, s := range r.Strings(param) {
		return s
	}
	return otherwise
}
