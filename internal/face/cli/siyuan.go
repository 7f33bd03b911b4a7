package cli

import "github.com/spf13/cobra"

func (p *program) siyuanCommand() *cobra.Command {
	return group("siyuan", "Your SiYuan notes",
		p.siyuanTelemetryCommand(),
	)
}
