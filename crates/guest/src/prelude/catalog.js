// The globals through which a cell reaches tools. Nothing here grows with the catalog: every object asks the host at
// first touch, through functions that exist only in this closure.
//
// What the guest did to its prototypes must not show here. So what the host answered is read with `own`, and no text is
// put together by a template: the engine calls the guest's `concat` for that.
(function (host) {
  'use strict';
  const { apply } = Reflect;
  const { hasOwn } = Object;
  const { ask, later, call, member, define, defineGetter, freeze, freezeDeep, append, isResolver } = host;
  const { toPrimitive, toStringTag } = Symbol;
  const Proxy_ = Proxy;

  const bare = () => ({ __proto__: null });
  const own = (object, name) => (hasOwn(object, name) ? object[name] : undefined);
  const option = (options, name) => (options === undefined || options === null ? undefined : options[name]);

  // Runs `load` once, when the value is first wanted.
  const lazily = (load) => {
    let loaded = false;
    let value;
    return () => {
      if (!loaded) {
        value = load();
        loaded = true;
      }
      return value;
    };
  };

  // A tool may be called `then` or `toJSON`. The language calls methods of these names on its own: then the answer is
  // an object without them, and no tool is called.
  const harmless = (name, invoke, standIn) => {
    if (name === 'then') {
      return function then(resolve) {
        if (isResolver(resolve)) return apply(resolve, undefined, [standIn()]);
        return apply(invoke, this, arguments);
      };
    }
    if (name === 'toJSON') {
      return function toJSON(key) {
        if (typeof key === 'string') return bare();
        return apply(invoke, this, arguments);
      };
    }
    return invoke;
  };

  // A closed namespace object: printing it or turning it into a string calls nothing.
  const close = (object, label) => {
    define(object, toStringTag, label, false);
    const text = '[object ' + label + ']';
    define(object, toPrimitive, () => text, false);
    return freeze(object);
  };

  // ---- tools ----------------------------------------------------------------------------------------------------

  const fixed = {
    __proto__: null,
    search: function search(query, options) {
      return later(() => ({ __proto__: null, op: 'tools.search', query, limit: option(options, 'limit') }));
    },
    describe: function describe(id) {
      return later(() => ({ __proto__: null, op: 'tools.describe', id }));
    },
    callValue: function callValue(id, input) {
      return call('callValue', id, input);
    },
    call: (0, { call(id, input) { return call('call', id, input); } }).call,
  };
  const labels = {
    __proto__: null,
    [toStringTag]: 'tools',
    [toPrimitive]: () => '[object tools]',
  };

  const makeTools = (hidden) => {
    const found = bare();
    const find = (key) => {
      if (typeof key !== 'string') return labels[key];
      if (key === hidden) return undefined;
      if (key in fixed) return fixed[key];
      if (key in found) return found[key];
      const id = ask({ __proto__: null, op: 'tools.resolve', name: key });
      if (id === null) return undefined;
      const invoke = host.convenience(id, key);
      found[key] = harmless(key, invoke, () => thenless());
      return found[key];
    };
    return new Proxy_(bare(), {
      __proto__: null,
      get: (target, key) => find(key),
      has: (target, key) => find(key) !== undefined,
      ownKeys: () => {
        const keys = ['search', 'describe', 'callValue', 'call'];
        const names = ask({ __proto__: null, op: 'tools.names' });
        for (let i = 0; i < names.length; i++) {
          const name = names[i];
          if (!(name in fixed) && name !== hidden) append(keys, name);
        }
        return keys;
      },
      getOwnPropertyDescriptor: (target, key) => {
        const value = typeof key === 'string' ? find(key) : undefined;
        if (value === undefined) return undefined;
        return { __proto__: null, value, writable: false, enumerable: true, configurable: true };
      },
      set: () => false,
      defineProperty: () => false,
      deleteProperty: () => false,
      setPrototypeOf: () => false,
      preventExtensions: () => false,
    });
  };
  const thenless = lazily(() => makeTools('then'));

  define(globalThis, 'tools', makeTools(undefined), true);
  defineGetter(globalThis, 'ALL_TOOLS', lazily(() => freezeDeep(ask({ __proto__: null, op: 'tools.all' }))));

  define(globalThis, 'API', close({
    __proto__: null,
    list(prefix) {
      return later(() => ({ __proto__: null, op: 'api.list', prefix }));
    },
    read(path) {
      return later(() => ({ __proto__: null, op: 'api.read', path }));
    },
  }, 'API'), true);

  // ---- namespaces -----------------------------------------------------------------------------------------------

  // Members of a server that its keys do not list.
  const unlisted = ['$serverName', '$api'];

  // A function of a namespace; `owner` is the object it belongs to.
  const method = (path, name, owner) => {
    const full = [];
    for (let i = 0; i < path.length; i++) append(full, path[i]);
    append(full, name);
    return harmless(name, member(full, name), () => {
      const copy = bare();
      const object = owner();
      const keys = host.keys(object);
      for (let i = 0; i < keys.length; i++) {
        if (keys[i] !== 'then') define(copy, keys[i], object[keys[i]], true);
      }
      for (let i = 0; i < unlisted.length; i++) {
        if (unlisted[i] in object && !(unlisted[i] in copy)) define(copy, unlisted[i], object[unlisted[i]], false);
      }
      return freeze(copy);
    });
  };

  // An object whose members are the functions `names`.
  const methods = (path, names, label) => {
    const object = bare();
    for (let i = 0; i < names.length; i++) {
      define(object, names[i], method(path, names[i], () => object), true);
    }
    return close(object, label);
  };

  // The object of a server whose tools nobody knows: any of them can be tried, and the host says why none answers.
  // Names that the language asks for on its own are no tools.
  const notTools = {
    __proto__: null, then: 1, toJSON: 1, toString: 1, toLocaleString: 1, valueOf: 1, constructor: 1, hasOwnProperty: 1,
    isPrototypeOf: 1, propertyIsEnumerable: 1,
  };
  const unready = (object, path) => new Proxy_(object, {
    __proto__: null,
    get: (target, key) => {
      if (typeof key !== 'string' || key in target) return target[key];
      if (key in notTools || key === '__proto__') return undefined;
      return method(path, key, () => object);
    },
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
    setPrototypeOf: () => false,
  });

  // What starts with `$` is not listed: the keys of `MCP` are servers, those of a server its tools and groups.
  const server = (name) => {
    const info = ask({ __proto__: null, op: 'mcp.server', server: name });
    if (info === null) return undefined;
    const path = ['MCP', name];
    const object = bare();
    define(object, '$serverName', info.serverName, false);
    define(object, '$api', function $api(tool, options) {
      return later(() => ({
        __proto__: null, op: 'mcp.api', server: name, tool, schema: option(options, 'schema') === true,
      }));
    }, false);
    const group = (key, names) => {
      const inner = ['MCP', name, key];
      define(object, key, methods(inner, names, 'MCP.' + name + '.' + key), true);
    };
    if (own(info, 'resources') || own(info, 'unready')) group('resources', ['list', 'read']);
    if (own(info, 'prompts') || own(info, 'unready')) group('prompts', ['list', 'get']);
    for (let i = 0; i < info.methods.length; i++) {
      const key = info.methods[i];
      if (!(key in object)) define(object, key, method(path, key, () => object), true);
    }
    close(object, 'MCP.' + name);
    return own(info, 'unready') ? unready(object, path) : object;
  };

  const servers = lazily(() => {
    const root = bare();
    const names = ask({ __proto__: null, op: 'mcp.servers' });
    for (let i = 0; i < names.length; i++) {
      defineGetter(root, names[i], lazily(() => server(names[i])));
    }
    define(root, '$api', function $api(name, options) {
      return later(() => ({
        __proto__: null, op: 'mcp.api', server: name, schema: option(options, 'schema') === true,
      }));
    }, false);
    define(root, '$search', function $search(query, options) {
      return later(() => ({ __proto__: null, op: 'mcp.search', query, limit: option(options, 'limit') }));
    }, false);
    return close(root, 'MCP');
  });

  // A node of a plugin's namespace, as the host describes it.
  const build = (node, path, name, owner) => {
    if (hasOwn(node, 'call')) return method(path, name, owner);
    if (hasOwn(node, 'value')) return freezeDeep(node.value);
    const inner = [];
    for (let i = 0; i < path.length; i++) append(inner, path[i]);
    if (name !== undefined) append(inner, name);
    if (hasOwn(node, 'array')) {
      const list = [];
      for (let i = 0; i < node.array.length; i++) append(list, build(node.array[i], inner, '' + i, () => list));
      return freeze(list);
    }
    const object = bare();
    const keys = host.keys(node.object);
    for (let i = 0; i < keys.length; i++) {
      define(object, keys[i], build(node.object[keys[i]], inner, keys[i], () => object), true);
    }
    let label = inner[0];
    for (let i = 1; i < inner.length; i++) label += '.' + inner[i];
    return close(object, label);
  };
  const tree = (name) => build(ask({ __proto__: null, op: 'ns.tree', name }), [], name, () => undefined);

  // Called once for each run, with what the host says is visible.
  const all = bare();
  defineGetter(globalThis, 'namespaces', lazily(() => close(all, 'namespaces')));
  return (visible) => {
    for (let i = 0; i < visible.length; i++) {
      const { name, kind } = visible[i];
      const load = kind === 'mcp' ? servers : lazily(() => tree(name));
      defineGetter(all, name, load);
      defineGetter(globalThis, name, load);
    }
  };
});
