/* registry_route.c - the shortest way from one language to another through models, step after step. */
#include "base/mem.h"
#include "models/registry.h"
#include "text/languages.h"

typedef struct {
    StrView name;
    Language language;
    bool known;
} Name;

/* A model from one language to one language. */
typedef struct {
    const RegistryModel *model;
    Name source, target;
} Edge;

/* The best route of a given length that ends with an edge. */
typedef struct {
    bool exists;
    size_t before;        /* the edge before the last */
    int quality;          /* how many of the languages between are English, or how exact the names are */
    long long parameters; /* of all its models */
} Route;

struct RegistryRoutes {
    Edge *edges; /* [count] */
    size_t count;
    Name from;
    Route *routes[REGISTRY_STEPS]; /* [count] of 1, 2, ... steps from there */
};

static Name read_name(StrView name) {
    Name read = {.name = name};
    read.known = language_read(name, &read.language);
    return read;
}

static bool same(const Name *a, const Name *b) {
    if (a->known && b->known) return languages_match(&a->language, &b->language);
    return language_names_match(a->name, b->name);
}

static bool better(const Route *a, const Route *b) {
    if (!a->exists || !b->exists) return a->exists;
    if (a->quality != b->quality) return a->quality > b->quality;
    return a->parameters > b->parameters;
}

static void list_edges(const Registry *registry, RegistryRoutes *routes) {
    size_t capacity = 0;
    for (size_t i = 0; i < registry->count; i++) {
        const RegistryModel *model = &registry->items[i];
        if (!model->info.source[0]) continue;
        Name source = read_name(sv(model->info.source));
        for (size_t t = 0; t < model->info.targets.count; t++) {
            MEM_GROW(routes->edges, capacity, routes->count + 1);
            routes->edges[routes->count++] =
                (Edge){model, source, read_name(sv(model->info.targets.items[t]))};
        }
    }
}

static Route begin(const Edge *edge, const Name *from) {
    bool exists = same(&edge->source, from);
    return (Route){.exists = exists, .parameters = edge->model->info.parameters};
}

/* The best way to reach `edge` after one of the routes [count]. */
static Route extend(const Edge *edges, const Route *routes, size_t count, const Edge *edge) {
    Route best = {0};
    bool english = edge->source.known && sv_equal(edge->source.language.code, SV("en"));
    for (size_t d = 0; d < count; d++) {
        if (!routes[d].exists || !same(&edges[d].target, &edge->source)) continue;
        Route route = {true, d, routes[d].quality + english,
                       routes[d].parameters + edge->model->info.parameters};
        if (better(&route, &best)) best = route;
    }
    return best;
}

/* The edge that ends the best of the routes to `to`; `count` if there is none. */
static size_t best_end(const Edge *edges, const Route *routes, size_t count, const Name *from, const Name *to,
                       bool direct) {
    size_t end = count;
    Route best = {0};
    for (size_t e = 0; e < count; e++) {
        Route route = routes[e];
        route.exists = route.exists && same(&edges[e].target, to);
        if (direct && route.exists)
            route.quality = language_rank(from->name, edges[e].source.name) +
                            language_rank(to->name, edges[e].target.name);
        if (better(&route, &best)) best = route, end = e;
    }
    return end;
}

RegistryRoutes *registry_routes_new(const Registry *registry) {
    RegistryRoutes *routes = mem_alloc(1, sizeof *routes);
    list_edges(registry, routes);
    for (int s = 0; s < REGISTRY_STEPS; s++)
        routes->routes[s] = mem_alloc(routes->count, sizeof *routes->routes[s]);
    return routes;
}

void registry_routes_from(RegistryRoutes *routes, StrView source) {
    routes->from = read_name(source);
    for (int s = 0; s < REGISTRY_STEPS; s++)
        for (size_t e = 0; e < routes->count; e++) {
            const Edge *edge = &routes->edges[e];
            routes->routes[s][e] = s == 0 ? begin(edge, &routes->from)
                                          : extend(routes->edges, routes->routes[s - 1], routes->count, edge);
        }
}

int registry_routes_to(const RegistryRoutes *routes, StrView target, int most,
                       RegistryStep steps[REGISTRY_STEPS]) {
    Name to = read_name(target);
    size_t end = routes->count;
    int length = 0;
    for (int s = 0; s < REGISTRY_STEPS && s < most && length == 0; s++) {
        end = best_end(routes->edges, routes->routes[s], routes->count, &routes->from, &to, s == 0);
        if (end < routes->count) length = s + 1;
    }
    for (int s = length - 1; s >= 0; end = routes->routes[s--][end].before) {
        const Edge *edge = &routes->edges[end];
        /* Names are the strings of the model, which end in NUL. */
        steps[s] = (RegistryStep){edge->model, edge->source.name.data, edge->target.name.data,
                                  edge->model->info.chooses_target};
    }
    return length;
}

void registry_routes_free(RegistryRoutes *routes) {
    for (int s = 0; s < REGISTRY_STEPS; s++) mem_free(routes->routes[s]);
    mem_free(routes->edges);
    mem_free(routes);
}

int registry_route(const Registry *registry, StrView source, StrView target, int most,
                   RegistryStep steps[REGISTRY_STEPS]) {
    RegistryRoutes *routes = registry_routes_new(registry);
    registry_routes_from(routes, source);
    int length = registry_routes_to(routes, target, most, steps);
    registry_routes_free(routes);
    return length;
}
