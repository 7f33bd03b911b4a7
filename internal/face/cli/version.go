package cli

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if p.json {
				return json.NewEncoder(p.out).Encode(map[string]string{
					"version": p.version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(p.out, "collie %s (%s, %s/%s)\n", p.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
