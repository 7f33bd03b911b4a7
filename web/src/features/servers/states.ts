// The states of servers in plain words.

import type { Text } from '../../texts/servers'
import type { Server } from '../../store/servers.svelte'

export interface State {
  word: Text
  means: Text
  /** calm says that nobody has to do anything. */
  calm: boolean
  /** runs says that there is something to stop. */
  runs: boolean
}

const row = (word: Text, means: Text, calm: boolean, runs: boolean): State => ({ word, means, calm, runs })

const states: Record<string, State> = {
  disabled: row('off', 'It is switched off in the settings.', true, false),
  config_error: row('wrong settings', 'Its settings have an error; nothing is started until that is mended.', false, false),
  idle: row('waiting', 'It does not run, and starts by itself at the first call.', true, false),
  starting: row('starting', 'It is being started.', true, true),
  ready: row('running', 'It runs, and can be called.', true, true),
  degraded: row('slow to answer', 'It runs, but does not answer in time when asked whether it is well.', false, true),
  backoff: row('trying again', 'It failed, and is started again by itself.', false, true),
  open: row('paused after failures', 'It failed several times in a row: calls are refused until it is tried again.', false, true),
  needs_auth: row('sign in needed', 'A person has to sign in before it can be used.', false, false),
  failed: row('cannot run', 'It cannot run before its settings or its program change.', false, false),
  stopping: row('stopping', 'It is being stopped.', true, true),
  stopped: row('stopped', 'It was stopped, and starts again at the next call.', true, false),
}

export function stateOf(s: Server): State {
  return (s.reason === 'user_stop' ? states.stopped : states[s.state]) ?? states.idle!
}

/** usable says that starting and asking for lists makes sense. */
export function usable(state: string): boolean {
  return state !== 'disabled' && state !== 'config_error'
}
