// The pages that there are. A page is a row here, a component in src/features, its texts in src/texts, and what it
// knows of the gateway in a store of its own in src/store. All but the chat are loaded when they are first shown.

import type { Component } from 'svelte'
import Chat from './features/chat/Chat.svelte'
import Sessions from './features/chat/Sessions.svelte'
import type { Text } from './services/locale.svelte'

export interface Page {
  /** name is the page in the address. */
  name: string
  title: Text
  /** load returns the page itself, and what stands beside it. */
  load: () => Loaded | Promise<Loaded>
}

export interface Loaded {
  main: Component
  side?: Component
}

export const pages: Page[] = [
  { name: 'chat', title: 'Chat', load: () => ({ main: Chat, side: Sessions }) },
  { name: 'servers', title: 'Servers', load: async () => ({ main: (await import('./features/servers/Servers.svelte')).default }) },
  { name: 'tools', title: 'Tools', load: async () => ({ main: (await import('./features/tools/Tools.svelte')).default }) },
  { name: 'notes', title: 'Notes', load: async () => ({ main: (await import('./features/notes/Notes.svelte')).default }) },
  { name: 'notebooks', title: 'Notebooks', load: async () => ({ main: (await import('./features/notebooks/Notebooks.svelte')).default }) },
  { name: 'agents', title: 'Agents', load: async () => ({ main: (await import('./features/agents/Agents.svelte')).default }) },
  { name: 'models', title: 'Models', load: async () => ({ main: (await import('./features/models/Models.svelte')).default }) },
  { name: 'permissions', title: 'Permissions', load: async () => ({ main: (await import('./features/permissions/Permissions.svelte')).default }) },
  { name: 'usage', title: 'Usage', load: async () => ({ main: (await import('./features/usage/Usage.svelte')).default }) },
  { name: 'clients', title: 'Clients', load: async () => ({ main: (await import('./features/clients/Clients.svelte')).default }) },
  { name: 'audit', title: 'Audit', load: async () => ({ main: (await import('./features/audit/Audit.svelte')).default }) },
  { name: 'cache', title: 'Cache', load: async () => ({ main: (await import('./features/caches/Caches.svelte')).default }) },
  { name: 'settings', title: 'Settings', load: async () => ({ main: (await import('./features/settings/Settings.svelte')).default }) },
  { name: 'doctor', title: 'Doctor', load: async () => ({ main: (await import('./features/doctor/Doctor.svelte')).default }) },
  { name: 'help', title: 'Help', load: async () => ({ main: (await import('./features/help/Help.svelte')).default }) },
  { name: 'puppy', title: 'Puppy', load: async () => ({ main: (await import('./features/puppy/Kennel.svelte')).default }) },
]
