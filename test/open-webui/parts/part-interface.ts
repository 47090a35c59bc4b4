/** What a part of the suite gets, and what it reports. */
import type { OpenWebUiApi } from '../support/open-webui-api.ts'
import type { Browser } from '../support/playwright.ts'
import type { Screen } from '../support/browser.ts'
import type { ConnectionType } from '../support/screen.ts'
import type { SuiteUpstream, Wire } from '../support/upstream.ts'

export interface Part {
  readonly name: string
  readonly description: string
  /** True if the part runs for every wire; otherwise for one wire of each connection. */
  readonly usesEveryWire: boolean
  readonly run: (context: PartContext) => Promise<void>
}

export interface PartContext {
  readonly connection: ConnectionType
  readonly wire: Wire
  /** The name under which Open WebUI lists the model of the wire on this connection. */
  readonly model: string
  /** The address of Open WebUI. */
  readonly url: string
  /** The page of the administrator. */
  readonly screen: Screen
  readonly browser: Browser
  readonly api: OpenWebUiApi
  readonly upstream: SuiteUpstream
  /** For screenshots. */
  readonly folder: string
  /** Counts the turns in the gateway's database: all, and those that are kept for two days. */
  readonly countTurns: () => { readonly all: number; readonly short: number }
  /** Adds a row to the table of behavior. */
  readonly check: (what: string, isTrue: boolean, detail?: unknown) => void
  /** Adds a row to the table of surfaces, with the texts that are visible there. */
  readonly checkSurface: (surface: string, texts: readonly string[]) => void
}
