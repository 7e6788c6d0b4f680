// What a command gets of this process's environment: where programs are, and the compiled sources.

const { PATH, NODE_COMPILE_CACHE } = process.env;

export const COMMAND_ENV = { PATH, NODE_COMPILE_CACHE };
