// What a line that begins with a slash can be, as /help lists it.

import { call } from '../services/api'
import { attempt } from './gateway.svelte'

interface Tool {
  Name: string
  Off?: string
  Actions: { Name: string; Off?: string }[] | null
}

const host = ['/help', '/tools', '/remember']
const commands = $state({ all: [] as string[] })
let asked = false

/** loadCommands asks once which tools there are. */
export function loadCommands(): void {
  if (asked) return
  asked = true
  void attempt(async () => {
    const { tools } = await call<{ tools: Tool[] | null }>('GET', '/tools')
    const on = (tools ?? []).filter((tool) => !tool.Off)
    commands.all = [
      ...host,
      ...on.map((tool) => `/help ${tool.Name}`),
      ...on.flatMap((tool) => (tool.Actions ?? []).filter((a) => !a.Off).map((a) => `/${tool.Name} ${a.Name}`)),
    ]
  }).then((ok) => (asked = ok))
}

const most = 8

/** complete returns commands that begin as a line does, one word further where many do. */
export function complete(line: string): string[] {
  if (!/^\/(?!\/)[^\n]*$/.test(line)) return []
  const typed = line.toLowerCase()
  const fitting = commands.all.filter((one) => one.toLowerCase().startsWith(typed) && one.length > typed.length)
  const words = line.split(' ').length
  const next = [...new Set(fitting.map((one) => one.split(' ').slice(0, words).join(' ')))]
  return (next.length > 1 || next[0]?.length !== line.length ? next : fitting).slice(0, most)
}
