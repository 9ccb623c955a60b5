--
-- PostgreSQL database dump
--

\restrict token

-- Dumped from database version 15.1
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: amcheck; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS amcheck WITH SCHEMA public;


--
-- Name: EXTENSION amcheck; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION amcheck IS 'functions for verifying relation integrity';


--
-- Name: money_amount; Type: DOMAIN; Schema: public; Owner: -
--

CREATE DOMAIN public.money_amount AS numeric(10,2)
	CONSTRAINT money_amount_check CHECK ((VALUE >= (0)::numeric));


--
-- Name: tier; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.tier AS ENUM (
    'basic',
    'gold',
    'platinum'
);


--
-- Name: credited(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.credited() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN UPDATE customers SET credit = 0; RETURN NEW; END; $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: customers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.customers (
    id integer NOT NULL,
    email text NOT NULL,
    name character varying(100),
    credit public.money_amount DEFAULT 0 NOT NULL,
    tier public.tier DEFAULT 'basic'::public.tier NOT NULL,
    settings jsonb,
    tags text[],
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: customers_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.customers_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: customers_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.customers_id_seq OWNED BY public.customers.id;


--
-- Name: order_items; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.order_items (
    order_id bigint NOT NULL,
    sku character(8) NOT NULL,
    quantity smallint DEFAULT 1 NOT NULL,
    CONSTRAINT order_items_quantity_check CHECK (((quantity > 0) AND (quantity <= 100)))
);


--
-- Name: orders; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.orders (
    id bigint NOT NULL,
    customer_id integer NOT NULL,
    token uuid,
    placed timestamp without time zone NOT NULL,
    net numeric(10,2) NOT NULL,
    total numeric(12,2) GENERATED ALWAYS AS ((net * 1.19)) STORED
);


--
-- Name: TABLE orders; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.orders IS 'what''s ordered; all of it';


--
-- Name: orders_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.orders ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.orders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: products; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.products (
    sku character(8) NOT NULL,
    title text,
    stock integer DEFAULT 0 NOT NULL,
    price numeric(8,2) NOT NULL,
    weight double precision,
    active boolean DEFAULT true NOT NULL,
    state character varying(10) DEFAULT 'new'::character varying NOT NULL,
    CONSTRAINT positive CHECK ((price >= (0)::numeric)),
    CONSTRAINT states CHECK (((state)::text = ANY ((ARRAY['new'::character varying, 'old'::character varying, 'gone'::character varying])::text[])))
);


--
-- Name: totals; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.totals AS
 SELECT orders.customer_id,
    sum(orders.net) AS sum
   FROM public.orders
  GROUP BY orders.customer_id;


--
-- Name: customers id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.customers ALTER COLUMN id SET DEFAULT nextval('public.customers_id_seq'::regclass);


--
-- Name: customers customers_email_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_email_key UNIQUE (email);


--
-- Name: customers customers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (id);


--
-- Name: order_items order_items_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.order_items
    ADD CONSTRAINT order_items_pkey PRIMARY KEY (order_id, sku);


--
-- Name: orders orders_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);


--
-- Name: orders orders_token_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_token_key UNIQUE (token);


--
-- Name: products products_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.products
    ADD CONSTRAINT products_pkey PRIMARY KEY (sku);


--
-- Name: customers_lower_email; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX customers_lower_email ON public.customers USING btree (lower(email));


--
-- Name: orders_customer_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX orders_customer_id_idx ON public.orders USING btree (customer_id);


--
-- Name: products_price; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX products_price ON public.products USING btree (price DESC, active);


--
-- Name: products_title; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX products_title ON public.products USING btree (title) WHERE active;


--
-- Name: orders x; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER x AFTER INSERT ON public.orders FOR EACH ROW EXECUTE FUNCTION public.credited();


--
-- Name: order_items order_items_order_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.order_items
    ADD CONSTRAINT order_items_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id) ON DELETE CASCADE DEFERRABLE;


--
-- Name: order_items order_items_sku_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.order_items
    ADD CONSTRAINT order_items_sku_fkey FOREIGN KEY (sku) REFERENCES public.products(sku) ON UPDATE CASCADE;


--
-- Name: orders orders_customer_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customers(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--

\unrestrict token

