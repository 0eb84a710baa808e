// Nothing within a site: B is the coefficient, and A is zero.

#define SITE_PARAMETERS
#define SITE_PREFETCH(at)
#define SITE_AFTER_HOP(value)
#define SITE_ADD(value, at)
