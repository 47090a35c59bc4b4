/** The part of playwright-core that the suite uses. The package is no dependency, so its own types are not there. */
export interface Chromium {
  readonly launch: (options: object) => Promise<Browser>
}

export interface Browser {
  readonly newContext: (options: object) => Promise<BrowserContext>
  readonly close: () => Promise<void>
}

export interface BrowserContext {
  readonly newPage: () => Promise<Page>
  readonly addInitScript: (script: { readonly content: string }) => Promise<void>
  readonly grantPermissions: (permissions: readonly string[]) => Promise<void>
  readonly setDefaultTimeout: (ms: number) => void
  readonly close: () => Promise<void>
}

export interface Page extends Finder {
  readonly goto: (url: string) => Promise<unknown>
  readonly reload: () => Promise<unknown>
  readonly url: () => string
  readonly evaluate: <Value>(script: string) => Promise<Value>
  readonly screenshot: (options: {
    readonly path: string
    readonly fullPage?: boolean
  }) => Promise<unknown>
  readonly keyboard: { readonly press: (key: string) => Promise<void> }
  readonly mouse: { readonly move: (x: number, y: number) => Promise<void> }
  readonly waitForEvent: (name: 'download') => Promise<Download>
  readonly on: (name: 'dialog', act: (dialog: Dialog) => void) => void
}

export interface Download {
  readonly path: () => Promise<string>
}

interface Dialog {
  readonly accept: () => Promise<void>
}

interface Finder {
  readonly locator: (selector: string, options?: Filter) => Locator
  readonly getByRole: (role: string, options?: NameOptions) => Locator
  readonly getByLabel: (text: string | RegExp, options?: { readonly exact?: boolean }) => Locator
  readonly getByText: (text: string | RegExp, options?: { readonly exact?: boolean }) => Locator
  readonly getByPlaceholder: (text: string | RegExp) => Locator
}

interface NameOptions {
  readonly name?: string | RegExp
  readonly exact?: boolean
}

interface Filter {
  readonly hasText?: string | RegExp
}

export interface Locator extends Finder {
  readonly click: (options?: object) => Promise<void>
  readonly fill: (text: string) => Promise<void>
  readonly press: (key: string) => Promise<void>
  readonly hover: (options?: object) => Promise<void>
  readonly selectOption: (value: string) => Promise<unknown>
  readonly count: () => Promise<number>
  readonly isVisible: () => Promise<boolean>
  readonly innerText: () => Promise<string>
  readonly allInnerTexts: () => Promise<readonly string[]>
  readonly inputValue: () => Promise<string>
  readonly getAttribute: (name: string) => Promise<string | null>
  readonly waitFor: (options?: {
    readonly state?: string
    readonly timeout?: number
  }) => Promise<void>
  readonly first: () => Locator
  readonly last: () => Locator
  readonly nth: (at: number) => Locator
  readonly all: () => Promise<readonly Locator[]>
}
