/** Methods of placeholders. @see go-state-types builtin/v9 … v18/placeholder/methods.go */
import type { ActorMethod } from './actorMethod.ts'

export const placeholderMethods: readonly ActorMethod[] = []
