package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"collie/internal/process"
)

// guardName is the hidden command that runs this program as the guard of its children.
const guardName = "__guard"

func (p *program) guardCommand() *cobra.Command {
	return &cobra.Command{
		Use: guardName, Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if code := process.GuardMain(p.in, io.Discard); code != 0 {
				return &exitError{code}
			}
			return nil
		},
	}
}

// self is the absolute path of this program, empty if it is not known.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
