// What a person has allowed for more than one call, and the browsers in which one has signed in.

import { call, thisBrowser } from '../services/api'
import { on, soon, whenConnected } from './gateway.svelte'

export interface Grant {
  id: string
  scope: 'turn' | 'session' | 'always'
  session?: string
  principal: string
  tool: string
  action: string
  risk: string
  constraint: { kind: string; value?: string; name?: string }
  created: string
  expires?: string
  used?: string
  uses: number
}

export interface Browser {
  id: string
  name: string
  host: string
  made: string
  used: string
  address?: string
}

export interface Link {
  address: string
  until: string
  /** qr is the address as a QR code, a text a row. */
  qr?: string[]
}

class Permissions {
  grants: Grant[] | null = $state.raw(null)
  browsers: Browser[] = $state.raw([])
  /** here is the id of this browser. */
  here = $state('')
  /** elsewhere: a browser on another machine could sign in. */
  elsewhere = $state(false)
}

export const permissions = new Permissions()

export async function loadPermissions(): Promise<void> {
  const [granted, known, here] = await Promise.all([
    call<{ grants: Grant[] }>('GET', '/grants'), call<{ browsers: Browser[] | null; elsewhere: boolean }>('GET', '/browsers'), thisBrowser(),
  ])
  permissions.grants = granted.grants
  permissions.browsers = (known.browsers ?? []).toSorted((a, b) => Number(b.id === here) - Number(a.id === here) || b.made.localeCompare(a.made))
  permissions.here = here
  permissions.elsewhere = known.elsewhere
}

/** revoke takes a grant back. */
export async function revoke(id: string): Promise<void> {
  try {
    await call('DELETE', `/grants/${encodeURIComponent(id)}`)
  } finally {
    await loadPermissions() // it may have expired meanwhile
  }
}

/** signOutBrowser ends the sign-in of a browser. */
export async function signOutBrowser(id: string): Promise<void> {
  try {
    await call('DELETE', `/browsers/${encodeURIComponent(id)}`)
  } finally {
    await loadPermissions()
  }
}

/** newLink makes a link with which one more browser can sign in; elsewhere is for one on another machine. */
export async function newLink(elsewhere: boolean): Promise<Link> {
  return call<Link>('POST', '/browsers/links', { elsewhere })
}

for (const kind of ['browsers', 'person.answered', 'session']) on(kind, () => soon(loadPermissions)) // grants are given with an answer, and end with a session
whenConnected(loadPermissions)
