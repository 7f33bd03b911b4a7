// The pages that there are. A page is a row here, a component in src/features, its texts in src/texts, and what it
// knows of the gateway in a store of its own in src/store. In the panel there are few of them. All but the chat are loaded when they are first shown.

import type { Component } from 'svelte'
import Chat from './features/chat/Chat.svelte'
import Sessions from './features/chat/Sessions.svelte'
import { framed } from './services/frame'
import type { Text } from './services/locale.svelte'

export interface Page {
  /** name is the page in the address. */
  name: string
  title: Text
  /** first begins a group in the menu. */
  first?: true
  /** panel: it is shown in the window of another program too. */
  panel?: true
  /** load returns the page itself, and what stands beside it. */
  load: () => Loaded | Promise<Loaded>
}

export interface Loaded {
  main: Component
  side?: Component
}

const all: Page[] = [
  { name: 'chat', title: 'Chat', load: () => ({ main: Chat, side: Sessions }) },
  { name: 'servers', first: true, title: 'Servers', load: async () => ({ main: (await import('./features/servers/Servers.svelte')).default }) },
  { name: 'tools', panel: true, title: 'Tools', load: async () => ({ main: (await import('./features/tools/Tools.svelte')).default }) },
  { name: 'clients', title: 'Clients', load: async () => ({ main: (await import('./features/clients/Clients.svelte')).default }) },
  { name: 'notes', first: true, title: 'Notes', load: async () => ({ main: (await import('./features/notes/Notes.svelte')).default }) },
  { name: 'notebooks', panel: true, title: 'Notebooks', load: async () => ({ main: (await import('./features/notebooks/Notebooks.svelte')).default }) },
  { name: 'agents', first: true, title: 'Agents', load: async () => ({ main: (await import('./features/agents/Agents.svelte')).default }) },
  { name: 'models', title: 'Models', load: async () => ({ main: (await import('./features/models/Models.svelte')).default }) },
  { name: 'usage', title: 'Usage', load: async () => ({ main: (await import('./features/usage/Usage.svelte')).default }) },
  { name: 'permissions', first: true, title: 'Permissions', load: async () => ({ main: (await import('./features/permissions/Permissions.svelte')).default }) },
  { name: 'audit', title: 'Audit', load: async () => ({ main: (await import('./features/audit/Audit.svelte')).default }) },
  { name: 'settings', first: true, panel: true, title: 'Settings', load: async () => ({ main: (await import('./features/settings/Settings.svelte')).default }) },
  { name: 'cache', title: 'Cache', load: async () => ({ main: (await import('./features/caches/Caches.svelte')).default }) },
  { name: 'doctor', title: 'Doctor', load: async () => ({ main: (await import('./features/doctor/Doctor.svelte')).default }) },
  { name: 'help', first: true, title: 'Help', load: async () => ({ main: (await import('./features/help/Help.svelte')).default }) },
  { name: 'puppy', title: 'Puppy', load: async () => ({ main: (await import('./features/puppy/Kennel.svelte')).default }) },
]

export const pages = framed ? all.filter((p) => p.panel) : all
