/** What every part of encoding a request has to know, and where it writes what it could not say. */
import type { Account } from '../../provider-interface.ts'
import { describeModel, type Model } from '../model-traits.ts'
import { openNotebook, type Notebook } from '../encoding-notes.ts'
import { readQuirks, type Quirks } from '../quirks.ts'

export interface Context {
  readonly account: Account
  readonly model: Model
  readonly quirks: Quirks
  readonly notebook: Notebook
}

export function newContext(model: string, account: Account): Context {
  return {
    account,
    model: describeModel(model),
    quirks: readQuirks(account.quirks),
    notebook: openNotebook(),
  }
}
