// What is allowed beyond one call, and how long, in words.

import { date, t, type Text } from '../../services/locale.svelte'

const extents: Record<string, Text> = {
  notebook: 'everything in notebook {}', subtree: '{} and all below it', path: 'everything in folder {}', host: 'everything at {}', command: 'the command {}', any: 'all calls of this action',
}

/** extent says what a grant covers. */
export const extent = (kind: string, within = ''): string => {
  const words = extents[kind]
  return words ? t(words).replace('{}', () => within) : `${kind} ${within}`
}

/** span says how long a grant holds. */
export function span(scope: string, expires?: string): string {
  if (scope === 'turn') return t('Until this answer is finished')
  if (scope === 'session') return t('In this conversation')
  return expires ? t('Always, until {}').replace('{}', date(expires)) : t('Always, until you take it back')
}
