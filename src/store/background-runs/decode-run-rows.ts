/** Decodes the rows of background runs. */
import { decodeColumnText, decodeNullableColumnText } from '../database/encode-column-text.ts'
import type { Caller } from '../../core/client/caller.ts'
import { decodeOrigin } from '../turns/decode-turn-rows.ts'
import type { TurnState } from '../turns/turn-store-interface.ts'
import type { TurnRow } from '../database/table-row-types.ts'
import type { RunLogPage, RunWithReplica } from './run-store-interface.ts'

export type RunStateRow = Pick<
  TurnRow,
  | 'dialect'
  | 'wire'
  | 'account'
  | 'model'
  | 'prefix_hash'
  | 'conversation'
  | 'state'
  | 'background'
  | 'owner'
  | 'created_at'
  | 'deleted_at'
> & {
  readonly orphaned: number
  readonly starts: number
  readonly first_number: number | null
}

export function createLogPage(
  turnId: string,
  { tenant, user }: Caller,
  state: RunStateRow,
  groups: RunLogPage['groups'],
): RunLogPage {
  return {
    turnId,
    tenant,
    user,
    dialect: state.dialect,
    origin: decodeOrigin(state),
    conversation: decodeNullableColumnText(state.conversation),
    state: state.state as TurnState,
    background: state.background === 1,
    replicaId: state.owner,
    isDeleted: state.deleted_at !== null,
    isOrphaned: state.orphaned === 1,
    createdAtMs: state.created_at,
    startCount: state.starts,
    isLogged: state.first_number !== null,
    groups,
  }
}

export type OrphanRow = Pick<TurnRow, 'id' | 'tenant' | 'user_id' | 'owner'>

export function decodeRun({ id, tenant, user_id, owner }: OrphanRow): RunWithReplica {
  return {
    turnId: decodeColumnText(id),
    tenant: decodeColumnText(tenant),
    user: decodeNullableColumnText(user_id),
    replicaId: owner,
  }
}
