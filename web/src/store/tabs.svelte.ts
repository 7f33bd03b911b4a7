// The conversations that are open beside each other. They lie in this browser alone.

import { recall, remember } from '../services/drafts'
import { go } from '../services/route.svelte'

export interface Tab {
  id: string
  title: string
}

const mostTabs = 12

class Tabs {
  list: Tab[] = $state([])
}

export const tabs = new Tabs()

const loaded = recall<Tab[]>('tabs', '').then((kept) => {
  tabs.list = [...(kept ?? []).filter((k) => !tabs.list.some((one) => one.id === k.id)), ...tabs.list].slice(-mostTabs)
})

async function save(): Promise<void> {
  await loaded
  await remember('tabs', '', $state.snapshot(tabs.list))
}

/** openTab has a conversation among the tabs; of too many the first is closed. */
export function openTab(id: string, title: string): void {
  const there = tabs.list.find((one) => one.id === id)
  if (there?.title === title) return
  if (there) there.title = title
  else tabs.list = [...tabs.list, { id, title }].slice(-mostTabs)
  void save()
}

/** closeTab closes a tab. Where it is the one that is shown, its neighbour is shown. */
export function closeTab(id: string, shown: string): void {
  const i = tabs.list.findIndex((one) => one.id === id)
  if (i < 0) return
  tabs.list = tabs.list.filter((one) => one.id !== id)
  void save()
  if (id === shown) go('chat', (tabs.list[i] ?? tabs.list[i - 1])?.id ?? '')
}
