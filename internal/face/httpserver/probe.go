package httpserver

import "context"

// Probe listens on addr briefly and returns the error that [Open] would return, nil if it could listen.
func Probe(ctx context.Context, addr string) error {
	at, err := resolve(ctx, addr)
	if err != nil {
		return err
	}
	l, err := listen(ctx, at, addr)
	if err != nil {
		return err
	}
	return l.Close()
}

// CheckToken returns what [LoadOrCreateToken] would find wrong with the token file at path, but creates
// nothing. The error for a missing file matches [io/fs.ErrNotExist].
func CheckToken(path string) error {
	_, err := loadToken(path)
	return err
}
