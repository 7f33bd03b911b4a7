//go:build stories

package toolcachetest

// Long forms.
const (
	each  = 20
	steps = 60
)
