// SPDX-License-Identifier: Apache-2.0
// CMA-ES (Hansen, "The CMA evolution strategy: a tutorial", 2016) on [0, 1]^n: points outside are
// reflected at the bounds before they are tried, and the distribution learns from what was tried. A
// distribution that has become narrow starts again with twice the points (IPOP; Auger and Hansen,
// 2005).

#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N TUNE_KNOBS_MAX
#define POINTS_MAX 256
#define SIGMA_FIRST 0.3
#define SIGMA_LAST 0.002 // settings have three digits: below this they repeat

struct cmaes {
	const struct search *search;
	struct rng rng;
	uint32_t n, points, parents;
	double weights[POINTS_MAX], mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi;
	double mean[N], sigma, path_sigma[N], path_c[N];
	double covariance[N][N], axes[N][N], lengths[N]; // covariance = axes * lengths^2 * axes'
	uint32_t generation;
	double tried[POINTS_MAX][N], values[POINTS_MAX];
	uint32_t order[POINTS_MAX];
};

static double normal(struct rng *rng)
{
	double u = 1 - search_uniform(rng), v = search_uniform(rng); // Box and Muller
	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

// Into [0, 1], as a mirror at both ends would show it.
static double reflected(double x)
{
	x = fmod(fabs(x), 2);
	return x > 1 ? 2 - x : x;
}

static void set_rates(struct cmaes *c)
{
	double n = c->n, sum = 0, squares = 0;
	c->parents = c->points / 2;
	for (uint32_t i = 0; i < c->parents; i++) {
		c->weights[i] = log(c->parents + 0.5) - log(i + 1);
		sum += c->weights[i];
	}
	for (uint32_t i = 0; i < c->parents; i++) {
		c->weights[i] /= sum;
		squares += c->weights[i] * c->weights[i];
	}
	double mu = c->mu_eff = 1 / squares;
	c->c_sigma = (mu + 2) / (n + mu + 5);
	c->d_sigma = 1 + 2 * fmax(0, sqrt((mu - 1) / (n + 1)) - 1) + c->c_sigma;
	c->c_c = (4 + mu / n) / (n + 4 + 2 * mu / n);
	c->c_1 = 2 / ((n + 1.3) * (n + 1.3) + mu);
	c->c_mu = fmin(1 - c->c_1, 2 * (mu - 2 + 1 / mu) / ((n + 2) * (n + 2) + mu));
	c->chi = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

static void begin(struct cmaes *c, bool is_first)
{
	set_rates(c);
	c->sigma = is_first && c->search->step > 0 ? c->search->step : SIGMA_FIRST;
	c->generation = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		c->mean[i] = !is_first		   ? search_uniform(&c->rng)
			: c->search->start != NULL ? c->search->start[i]
						   : 0.5;
		c->path_sigma[i] = c->path_c[i] = 0;
		c->lengths[i] = 1;
		for (uint32_t j = 0; j < c->n; j++)
			c->covariance[i][j] = c->axes[i][j] = i == j;
	}
}

// Turns the plane of axes p and q so that a[p][q] becomes 0 (Jacobi).
static void turn(struct cmaes *c, double a[N][N], uint32_t p, uint32_t q)
{
	double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
	double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
	double cosine = 1 / sqrt(t * t + 1), sine = t * cosine;
	for (uint32_t i = 0; i < c->n; i++) {
		double x = a[i][p], y = a[i][q];
		a[i][p] = cosine * x - sine * y;
		a[i][q] = sine * x + cosine * y;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		double x = a[p][i], y = a[q][i];
		a[p][i] = cosine * x - sine * y;
		a[q][i] = sine * x + cosine * y;
		x = c->axes[i][p];
		y = c->axes[i][q];
		c->axes[i][p] = cosine * x - sine * y;
		c->axes[i][q] = sine * x + cosine * y;
	}
}

static void decompose(struct cmaes *c)
{
	double a[N][N];
	memcpy(a, c->covariance, sizeof(a));
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t j = 0; j < c->n; j++)
			c->axes[i][j] = i == j;
	for (int sweep = 0; sweep < 30; sweep++)
		for (uint32_t p = 0; p < c->n; p++)
			for (uint32_t q = p + 1; q < c->n; q++)
				if (fabs(a[p][q]) > 1e-14)
					turn(c, a, p, q);
	for (uint32_t i = 0; i < c->n; i++)
		c->lengths[i] = sqrt(fmax(a[i][i], 1e-14));
}

static void draw(struct cmaes *c, double *ret)
{
	double z[N];
	for (uint32_t i = 0; i < c->n; i++)
		z[i] = normal(&c->rng) * c->lengths[i];
	for (uint32_t i = 0; i < c->n; i++) {
		double step = 0;
		for (uint32_t j = 0; j < c->n; j++)
			step += c->axes[i][j] * z[j];
		ret[i] = reflected(c->mean[i] + c->sigma * step);
	}
}

static void sort(struct cmaes *c)
{
	for (uint32_t i = 0; i < c->points; i++) { // few: insertion, ties in order of proposal
		uint32_t at = i;
		for (; at > 0 && c->values[c->order[at - 1]] > c->values[i]; at--)
			c->order[at] = c->order[at - 1];
		c->order[at] = i;
	}
}

// The step of the mean without the distribution's shape: axes / lengths * axes' * step.
static void whiten(const struct cmaes *c, const double *step, double *ret)
{
	double along[N];
	for (uint32_t i = 0; i < c->n; i++) {
		along[i] = 0;
		for (uint32_t j = 0; j < c->n; j++)
			along[i] += c->axes[j][i] * step[j];
		along[i] /= c->lengths[i];
	}
	for (uint32_t i = 0; i < c->n; i++) {
		ret[i] = 0;
		for (uint32_t j = 0; j < c->n; j++)
			ret[i] += c->axes[i][j] * along[j];
	}
}

static void move_mean(struct cmaes *c, double *ret_step)
{
	for (uint32_t i = 0; i < c->n; i++) {
		double mean = 0;
		for (uint32_t k = 0; k < c->parents; k++)
			mean += c->weights[k] * c->tried[c->order[k]][i];
		ret_step[i] = (mean - c->mean[i]) / c->sigma;
	}
}

static void learn(struct cmaes *c)
{
	double step[N], white[N], old[N], length = 0, n = c->n;
	memcpy(old, c->mean, sizeof(old));
	sort(c);
	move_mean(c, step);
	whiten(c, step, white);
	c->generation++;
	for (uint32_t i = 0; i < c->n; i++) {
		c->mean[i] += c->sigma * step[i];
		c->path_sigma[i] = (1 - c->c_sigma) * c->path_sigma[i] +
			sqrt(c->c_sigma * (2 - c->c_sigma) * c->mu_eff) * white[i];
		length += c->path_sigma[i] * c->path_sigma[i];
	}
	length = sqrt(length);
	double settled = sqrt(1 - pow(1 - c->c_sigma, 2.0 * c->generation));
	bool is_short = length / settled < (1.4 + 2 / (n + 1)) * c->chi;
	for (uint32_t i = 0; i < c->n; i++)
		c->path_c[i] = (1 - c->c_c) * c->path_c[i] +
			(is_short ? sqrt(c->c_c * (2 - c->c_c) * c->mu_eff) * step[i] : 0);
	double kept = 1 - c->c_1 - c->c_mu + (is_short ? 0 : c->c_1 * c->c_c * (2 - c->c_c));
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t j = 0; j < c->n; j++) {
			double spread = 0;
			for (uint32_t k = 0; k < c->parents; k++) {
				const double *x = c->tried[c->order[k]];
				spread += c->weights[k] * (x[i] - old[i]) * (x[j] - old[j]);
			}
			c->covariance[i][j] = kept * c->covariance[i][j] +
				c->c_1 * c->path_c[i] * c->path_c[j] +
				c->c_mu * spread / (c->sigma * c->sigma);
		}
	c->sigma *= exp(c->c_sigma / c->d_sigma * (length / c->chi - 1));
	c->sigma = fmin(c->sigma, 1);
}

static bool is_narrow(const struct cmaes *c)
{
	double widest = 0;
	for (uint32_t i = 0; i < c->n; i++)
		widest = fmax(widest, c->lengths[i]);
	return c->sigma * widest < SIGMA_LAST ||
		c->values[c->order[0]] == c->values[c->order[c->points - 1]];
}

int search_cmaes(const struct search *search)
{
	struct cmaes *c = calloc(1, sizeof(*c));
	int rc = c == NULL ? -ENODEV : 0;
	if (c == NULL)
		return rc;
	*c = (struct cmaes){.search = search,
			    .rng = rng_of(search->seed, RNG_TUNE, 1),
			    .n = search->dimensions,
			    .points = 4 + (uint32_t)(3 * log(search->dimensions))};
	begin(c, true);
	while (rc == 0) {
		for (uint32_t i = 0; i < c->points; i++)
			draw(c, c->tried[i]);
		rc = search->attempt(search->context, (const double(*)[N])c->tried, c->points,
				     c->values);
		if (rc != 0)
			break;
		learn(c);
		decompose(c);
		if (is_narrow(c)) {
			c->points = 2 * c->points <= POINTS_MAX ? 2 * c->points : c->points;
			begin(c, false);
		}
	}
	free(c);
	return rc < 0 ? rc : 0;
}
